// What a real card does with the runtime's kernels and libraries, beside what it does with a copy
// and with cuBLAS called directly: ratios in one run. Where there is no card each benchmark says so
// and measures nothing. OHM_CUDA_DRIVER and the like name other libraries, as for `ohm`.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "allocator_shim/base/bytes.h"
#include "harness/cli/cuda_options.h"
#include "harness/machine/machine.h"
#include "runtime/cuda/device_libraries.h"
#include "runtime/ops/activation/softmax.h"
#include "runtime/ops/attention/attention.h"
#include "runtime/ops/convolution/conv.h"
#include "runtime/ops/embedding/embedding.h"
#include "runtime/ops/matmul/matmul.h"
#include "runtime/ops/normalization/layer_norm.h"
#include "runtime/ops/normalization/rms_norm.h"
#include "runtime/ops/pointwise/inplace_binary.h"
#include "runtime/ops/pointwise/pointwise_unary.h"
#include "runtime/ops/reduction/reduction.h"
#include "runtime/ops/shape/view.h"
#include "runtime/ops/sorting/sorting.h"
#include "runtime/tensor/context.h"
#include "runtime/tensor/cuda_backend.h"
#include "tests/bench/training_steps.h"

namespace ohm::bench {
namespace {

/// A GPU that is a share of the first card.
class CudaMachine {
 public:
  explicit CudaMachine(std::size_t share_bytes)
      : machine_(options(share_bytes)), guard_(machine_.context()) {
    machine_.add_gpus();
  }

  engine::Machine& machine() { return machine_; }
  const cuda::CudaDevice& device() { return *backend().device; }
  const cuda::Cublas* cublas() { return backend().libraries->cublas(); }

 private:
  static engine::MachineOptions options(std::size_t share_bytes) {
    engine::MachineOptions options;
    options.gpu.profile = "golden-sm80";
    options.gpu.capacity_bytes = share_bytes;
    options.cuda = cli::cuda_libraries();
    return options;
  }
  const CudaBackend& backend() { return *machine_.context().gpus.front().backend; }

  engine::Machine machine_;
  ContextGuard guard_;
};

/// Calls measure(machine) where there is a card.
template <class Measure>
void on_cuda(benchmark::State& state, std::size_t share_bytes, Measure&& measure) {
  try {
    CudaMachine machine(share_bytes);
    measure(machine);
  } catch (const GpuUnavailable& missing) {
    state.SkipWithError(missing.what());
  }
}

void allocate_and_free(benchmark::State& state) {
  on_cuda(state, 64_MiB, [&](CudaMachine& on) {
    CachingAllocator& allocator = on.machine().caching_allocator(0);
    for (auto _ : state) allocator.free(allocator.allocate({.bytes = 4_KiB}).block);
  });
}
BENCHMARK(allocate_and_free);

// ---- bandwidth ----------------------------------------------------------------------------------

/// Each iteration reads and writes so many arrays of state.range(0) floats.
template <class Work>
void move_arrays(benchmark::State& state, int arrays, Work&& work) {
  const std::size_t bytes = static_cast<std::size_t>(state.range(0)) * sizeof(float);
  on_cuda(state, 4 * bytes + 64_MiB, [&](CudaMachine& on) {
    const Tensor a = rand({state.range(0)}, kOnGpu);
    const Tensor b = rand({state.range(0)}, kOnGpu);
    work(on, a, b);  // what is loaded once
    on.device().synchronize();
    for (auto _ : state) {
      work(on, a, b);
      on.device().synchronize();
    }
    state.SetBytesProcessed(state.iterations() * arrays * static_cast<std::int64_t>(bytes));
  });
}

void copy_of_arrays(benchmark::State& state) {
  move_arrays(state, 2, [](CudaMachine& on, const Tensor& a, const Tensor& b) {
    on.device().copy(b.cuda_address(CudaAccess::overwrite), a.cuda_address(CudaAccess::read),
                     a.nbytes());
  });
}
BENCHMARK(copy_of_arrays)->Arg(1 << 16)->Arg(1 << 26)->UseRealTime();

void addition_in_place(benchmark::State& state) {
  move_arrays(state, 3,
              [](CudaMachine&, const Tensor& a, const Tensor& b) { ops::add_(a, b, 1.0); });
}
BENCHMARK(addition_in_place)->Arg(1 << 16)->Arg(1 << 26)->UseRealTime();

void exponential(benchmark::State& state) {
  move_arrays(state, 2, [](CudaMachine&, const Tensor& a, const Tensor&) {
    benchmark::DoNotOptimize(ops::exp(a));
  });
}
BENCHMARK(exponential)->Arg(1 << 16)->Arg(1 << 26)->UseRealTime();

// ---- products -----------------------------------------------------------------------------------

template <class Multiply>
void multiply(benchmark::State& state, Multiply&& product_of) {
  const std::int64_t size = state.range(0);
  const std::size_t bytes = static_cast<std::size_t>(size * size) * sizeof(float);
  on_cuda(state, 5 * bytes + 64_MiB, [&](CudaMachine& on) {
    const Tensor a = rand({size, size}, kOnGpu);
    const Tensor b = rand({size, size}, kOnGpu);
    product_of(on, a, b);
    on.device().synchronize();
    for (auto _ : state) {
      product_of(on, a, b);
      on.device().synchronize();
    }
    const auto additions =
        static_cast<double>(size) * static_cast<double>(size) * static_cast<double>(size);
    state.counters["FLOP/s"] =
        benchmark::Counter(2 * additions, benchmark::Counter::kIsIterationInvariantRate);
  });
}

void product(benchmark::State& state) {
  multiply(state, [](CudaMachine&, const Tensor& a, const Tensor& b) {
    benchmark::DoNotOptimize(ops::mm(a, b));
  });
}
BENCHMARK(product)->Arg(64)->Arg(1024)->Arg(4096)->UseRealTime();

void product_of_cublas(benchmark::State& state) {
  const std::int64_t size = state.range(0);
  multiply(state, [&](CudaMachine& on, const Tensor& a, const Tensor& b) {
    if (on.cublas() == nullptr) return state.SkipWithError("cuBLAS is not here");
    const Tensor out = empty({size, size}, kOnGpu);
    cuda::Product product;
    product.m = product.n = product.k = size;
    product.a = {a.cuda_address(CudaAccess::read), size};
    product.b = {b.cuda_address(CudaAccess::read), size};
    product.out = out.cuda_address(CudaAccess::overwrite);
    on.cublas()->multiply(product, {});
  });
}
BENCHMARK(product_of_cublas)->Arg(64)->Arg(1024)->Arg(4096)->UseRealTime();

// ---- rows ---------------------------------------------------------------------------------------

/// Work on [rows, width] floats, of state.range(0) and state.range(1); it counts as having read and
/// written so many arrays of them. prepare() makes what works on rows, with tensors of its own,
/// which go before the machine does.
template <class Prepare>
void walk_rows_prepared(benchmark::State& state, int arrays, Prepare&& prepare) {
  const Shape shape{state.range(0), state.range(1)};
  const std::size_t bytes = static_cast<std::size_t>(shape.numel()) * sizeof(float);
  on_cuda(state, 12 * bytes + 128_MiB, [&](CudaMachine& on) {
    const Tensor rows = randn(shape, kOnGpu);
    const auto work = prepare();
    work(rows);  // what is loaded once
    on.device().synchronize();
    for (auto _ : state) {
      work(rows);
      on.device().synchronize();
    }
    state.SetBytesProcessed(state.iterations() * arrays * static_cast<std::int64_t>(bytes));
  });
}

template <class Work>
void walk_rows(benchmark::State& state, int arrays, const Work& work) {
  walk_rows_prepared(state, arrays, [&] { return work; });
}

void of_rows(benchmark::internal::Benchmark* bench) {
  bench->Args({64, 96})->Args({8192, 4096})->UseRealTime();
}

void sum_of_rows(benchmark::State& state) {
  walk_rows(state, 1, [](const Tensor& rows) {
    benchmark::DoNotOptimize(ops::sum(rows, Shape{1}, false, std::nullopt));
  });
}
BENCHMARK(sum_of_rows)->Apply(of_rows);

void softmax_of_rows(benchmark::State& state) {
  walk_rows(state, 2, [](const Tensor& rows) {
    benchmark::DoNotOptimize(ops::softmax(rows, 1, std::nullopt));
  });
}
BENCHMARK(softmax_of_rows)->Apply(of_rows);

/// Forwards, and backwards where `is_trained`.
void normalise(benchmark::State& state, bool is_trained) {
  const Shape width{state.range(1)};
  walk_rows_prepared(state, is_trained ? 5 : 2, [&] {
    return [=, weight = ones(width, kOnGpu)](const Tensor& rows) {
      for (const Tensor& leaf : {rows, weight}) leaf.set_requires_grad(is_trained);
      const Tensor out = ops::layer_norm(rows, width, weight, weight, 1e-5);
      if (is_trained) backward({out}, {out}, GraphRetention::release);
    };
  });
}
void layer_norm(benchmark::State& state) { normalise(state, false); }
BENCHMARK(layer_norm)->Apply(of_rows);
void layer_norm_with_gradients(benchmark::State& state) { normalise(state, true); }
BENCHMARK(layer_norm_with_gradients)->Apply(of_rows);

void rms_norm_with_gradients(benchmark::State& state) {
  const Shape width{state.range(1)};
  walk_rows_prepared(state, 5, [&] {
    return [=, weight = ones(width, kOnGpu)](const Tensor& rows) {
      for (const Tensor& leaf : {rows, weight}) leaf.set_requires_grad(true);
      const Tensor out = ops::rms_norm(rows, width, weight, 1e-5);
      backward({out}, {out}, GraphRetention::release);
    };
  });
}
BENCHMARK(rms_norm_with_gradients)->Apply(of_rows);

void uniform_numbers(benchmark::State& state) {
  walk_rows(state, 1, [](const Tensor& rows) { fill_uniform(rows, 0.0, 1.0); });
}
BENCHMARK(uniform_numbers)->Apply(of_rows);

void sort_of_everything(benchmark::State& state) {
  walk_rows(state, 1, [](const Tensor& rows) {
    benchmark::DoNotOptimize(ops::sort(ops::unrecorded_reshape(rows, {rows.numel()}), 0, false));
  });
}
BENCHMARK(sort_of_everything)->Apply(of_rows);

void sort_of_rows(benchmark::State& state) {
  walk_rows(state, 1,
            [](const Tensor& rows) { benchmark::DoNotOptimize(ops::sort(rows, 1, false)); });
}
BENCHMARK(sort_of_rows)->Apply(of_rows);

/// A table of 50,000 rows at most, of a width of 768 at most.
void embedding_with_gradient(benchmark::State& state) {
  const std::int64_t width = std::min<std::int64_t>(state.range(1), 768);
  const std::int64_t count = std::min<std::int64_t>(state.range(0) * state.range(1), 50'000);
  walk_rows_prepared(state, 1, [&] {
    const Tensor table = randn({count, width}, kOnGpu);
    table.set_requires_grad(true);
    const Tensor index = randint(0, count, {state.range(0)}, {DType::int64, kOnGpu.device});
    return [=](const Tensor& /*rows*/) {
      backward(ops::sum(ops::embedding(index, table, std::nullopt)));
    };
  });
}
BENCHMARK(embedding_with_gradient)->Apply(of_rows);

/// Eight heads, state.range(0) queries and keys.
void attention_with_gradients(benchmark::State& state) {
  const std::int64_t length = state.range(0);
  on_cuda(state, 1_GiB, [&](CudaMachine& on) {
    const Tensor heads = randn({1, 8, length, 64}, kOnGpu);
    heads.set_requires_grad(true);
    const auto step = [&] {
      backward(ops::sum(ops::scaled_dot_product_attention(heads, heads, heads, std::nullopt, 0.0,
                                                          true, std::nullopt)));
      on.device().synchronize();
    };
    step();
    for (auto _ : state) step();
  });
}
BENCHMARK(attention_with_gradients)->Arg(64)->Arg(4096)->UseRealTime();

/// [32, 64, n, n] by [128, 64, 3, 3].
void convolution(benchmark::State& state, DType dtype) {
  on_cuda(state, 2_GiB, [&](CudaMachine& on) {
    const TensorOptions options{dtype, kOnGpu.device};
    const Tensor images = randn({32, 64, state.range(0), state.range(0)}, options);
    const Tensor filters = randn({128, 64, 3, 3}, options);
    const auto step = [&] {
      benchmark::DoNotOptimize(ops::conv2d(images, filters, {}, {1}, {1}, {1}, 1));
      on.device().synchronize();
    };
    step();
    for (auto _ : state) step();
  });
}
void convolution_float32(benchmark::State& state) { convolution(state, DType::float32); }
BENCHMARK(convolution_float32)->Arg(56)->UseRealTime();
void convolution_bfloat16(benchmark::State& state) { convolution(state, DType::bfloat16); }
BENCHMARK(convolution_bfloat16)->Arg(56)->UseRealTime();

// ---- training -----------------------------------------------------------------------------------

void train_on_cuda(benchmark::State& state, const std::vector<std::int64_t>& widths,
                   std::int64_t batch) {
  on_cuda(state, 256_MiB, [&](CudaMachine& on) {
    train(state, mlp(widths), random_batch(batch, widths.front(), widths.back()),
          [&] { on.device().synchronize(); });
  });
}

void small_training_step(benchmark::State& state) { train_on_cuda(state, {8, 8, 8}, 4); }
BENCHMARK(small_training_step)->UseRealTime();

void two_layer_training_step(benchmark::State& state) {
  train_on_cuda(state, {1000, 2000, 10}, 32);
}
BENCHMARK(two_layer_training_step)->UseRealTime();

}  // namespace
}  // namespace ohm::bench
