// What one eager op, one small training step and a large size-only step cost.

#include <benchmark/benchmark.h>
#include <cblas.h>
#include <sys/resource.h>

#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/engine.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/nn/linear.h"
#include "runtime/nn/new_parameter.h"
#include "runtime/nn/normalization.h"
#include "runtime/nn/sequential.h"
#include "runtime/ops/activation/activation.h"
#include "runtime/ops/activation/softmax.h"
#include "runtime/ops/matmul/matmul.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/reduction/reduction.h"
#include "runtime/ops/shape/slice.h"
#include "runtime/ops/shape/view.h"
#include "runtime/optim/adam.h"
#include "tests/bench/training_steps.h"
#include "tests/support/test_machine.h"

namespace ohm::bench {
namespace {

void add_of_four_elements(benchmark::State& state) {
  test::TestMachine machine({.values = ValueMode::keeps_values});
  const Tensor a = randn({4}, kOnGpu);
  const Tensor b = randn({4}, kOnGpu);
  for (auto _ : state) benchmark::DoNotOptimize(ops::add(a, b));
}
BENCHMARK(add_of_four_elements);

void small_training_step(benchmark::State& state) {
  test::TestMachine machine({.values = ValueMode::keeps_values});
  train(state, mlp({8, 8, 8}), random_batch(4, 8, 8));
}
BENCHMARK(small_training_step);

void two_layer_training_step(benchmark::State& state) {
  test::TestMachine machine({.values = ValueMode::keeps_values});
  train(state, mlp({1000, 2000, 10}), random_batch(32, 1000, 10));
}
BENCHMARK(two_layer_training_step)->Unit(benchmark::kMillisecond);

// One block of a GPT: attention over `kHeads` heads with its causal mask left out, and an MLP four
// times as wide, each behind a LayerNorm and added to what came in.
class Block final : public nn::UnaryModule<Block> {
 public:
  static constexpr std::int64_t kHeads = 64;

  explicit Block(std::int64_t width) : width_(width) {
    const nn::ParameterOptions options{Device::cuda(0)};
    const auto add_linear = [&](const char* name, std::int64_t in, std::int64_t out) {
      add_child(name, std::make_shared<nn::Linear>(in, out, true, options));
    };
    add_child("norm1",
              std::make_shared<nn::LayerNorm>(Shape{width}, nn::LayerNormOptions{}, options));
    add_linear("qkv", width, 3 * width);
    add_linear("proj", width, width);
    add_child("norm2",
              std::make_shared<nn::LayerNorm>(Shape{width}, nn::LayerNormOptions{}, options));
    add_linear("up", width, 4 * width);
    add_linear("down", 4 * width, width);
  }
  std::string_view type_name() const override { return "Block"; }

 protected:
  Tensor apply(const Tensor& input) override {
    const Tensor x = ops::add(input, attention(call(0, input)));
    return ops::add(x, call(5, ops::gelu(call(4, call(3, x)), "none")));
  }

 private:
  Tensor call(std::size_t child, const Tensor& input) const {
    return children()[child].module->forward(input);
  }
  Tensor attention(const Tensor& x) const {
    const Tensor qkv = call(1, x);
    const Shape split_shape{x.size(0), x.size(1), kHeads, width_ / kHeads};
    const auto heads = [&](std::int64_t part) {
      const Tensor piece = ops::narrow(qkv, 2, part * width_, width_);
      return ops::transpose(ops::reshape(piece, split_shape), 1, 2);
    };
    const Tensor scores = ops::matmul(heads(0), ops::transpose(heads(1), 2, 3));
    const Tensor weights = ops::softmax(ops::mul(scores, 0.125), -1, std::nullopt);
    const Tensor mixed = ops::transpose(ops::matmul(weights, heads(2)), 1, 2);
    return call(2, ops::reshape(mixed, x.shape()));
  }

  std::int64_t width_;
};

nn::ModulePtr transformer(std::int64_t blocks, std::int64_t width) {
  std::vector<nn::ModulePtr> layers;
  for (std::int64_t i = 0; i < blocks; ++i) layers.push_back(std::make_shared<Block>(width));
  return std::make_shared<nn::Sequential>(std::move(layers));
}

// Forward, backward and AdamW of so many blocks of width 8,192; 80 are 65 billion parameters. The
// machine is as large as it takes; nothing is computed.
void size_only_transformer_step(benchmark::State& state) {
  test::TestMachine machine({.capacity_bytes = std::size_t{1} << 46U});
  const nn::ModulePtr net = transformer(state.range(0), 8192);
  optim::Adam adam(net->parameters(), {.weight_decay = 0.01,
                                       .decay = optim::WeightDecay::decoupled,
                                       .form = optim::Form::foreach_list});
  const Tensor x = randn({1, 128, 8192}, kOnGpu);
  for (auto _ : state) {
    adam.zero_grad(true);
    backward(ops::sum(net->forward(x)));
    adam.step();
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  state.counters["process_MiB"] = static_cast<double>(usage.ru_maxrss) / 1024;
  state.counters["ms_per_block"] = benchmark::Counter(
      static_cast<double>(state.range(0)) / 1e3,
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(size_only_transformer_step)->Arg(8)->Arg(80)->Arg(800)->Unit(benchmark::kMillisecond);

// The product that the runtime asks OpenBLAS for, and the same asked directly.
void matmul(benchmark::State& state) {
  test::TestMachine machine({.values = ValueMode::keeps_values});
  const Tensor a = randn({512, 512}, kOnGpu);
  const Tensor b = randn({512, 512}, kOnGpu);
  for (auto _ : state) benchmark::DoNotOptimize(ops::mm(a, b));
}
BENCHMARK(matmul)->Unit(benchmark::kMillisecond);

void matmul_of_openblas(benchmark::State& state) {
  constexpr int kSize = 512;
  openblas_set_num_threads(1);
  const std::vector<float> a(kSize * kSize, 0.5F);
  std::vector<float> c(kSize * kSize);
  for (auto _ : state) {
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, kSize, kSize, kSize, 1.0F, a.data(),
                kSize, a.data(), kSize, 0.0F, c.data(), kSize);
    benchmark::DoNotOptimize(c.data());
  }
}
BENCHMARK(matmul_of_openblas)->Unit(benchmark::kMillisecond);

void size_only_training_step(benchmark::State& state) {
  test::TestMachine machine;
  const std::vector<std::int64_t> widths(static_cast<std::size_t>(state.range(0)) + 1, 512);
  train(state, mlp(widths), random_batch(32, 512, 8));
  state.counters["layers"] = static_cast<double>(state.range(0));
}
BENCHMARK(size_only_training_step)->Arg(10)->Arg(100)->Arg(1000)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace ohm::bench
