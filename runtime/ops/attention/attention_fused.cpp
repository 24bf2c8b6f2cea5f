#include "runtime/ops/attention/attention_fused.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "allocator_shim/device/attention_workspace.h"
#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/arithmetic/reduce.h"
#include "runtime/autograd/recorder.h"
#include "runtime/base/ceil_div.h"
#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/ops/attention/cuda/attention.h"
#include "runtime/ops/attention/host/attention.h"
#include "runtime/ops/pointwise/pointwise_kernel.h"
#include "runtime/tensor/context.h"
#include "runtime/tensor/cuda_graph.h"

namespace ohm::ops {
namespace {

void attention_forward(const AttentionInputs& inputs, const AttentionRules& rules,
                       const Tensor& out, const Tensor& logsumexp) {
  if (!out.has_values() || is_attention_done_on_cuda(inputs, rules, out, logsumexp)) return;
  host_attention(inputs, rules, out, logsumexp);
}

void attention_backward(const AttentionInputs& inputs, const AttentionRules& rules,
                        const Tensor& grad, const AttentionInputs& gradients,
                        const AttentionSums& sums) {
  if (!grad.has_values()) return;
  if (are_attention_gradients_done_on_cuda(inputs, rules, grad, gradients, sums)) return;
  host_attention_gradients(inputs, rules, grad, gradients);
}

std::int64_t round_up(std::int64_t a, std::int64_t multiple) {
  return ceil_div(a, multiple) * multiple;
}

// [B, H, length, width] seen as [B, length, H, width], and back.
Tensor swapped(const Tensor& tensor) {
  Shape sizes = tensor.shape();
  Shape strides = tensor.strides();
  std::swap(sizes[1], sizes[2]);
  std::swap(strides[1], strides[2]);
  return make_view(tensor, sizes, strides, tensor.impl()->offset);
}

// The same, of a tensor that has no other owner: what an op hands out.
Tensor swapped_result(const Tensor& fresh) {
  Tensor result = swapped(fresh);
  result.impl()->is_view = false;
  return result;
}

AttentionRules rules_of(const FusedAttention& options, const Tensor& query, const Tensor& key) {
  AttentionRules rules{options.scale, options.is_causal, options.dropout_p};
  if (options.dropout_p == 0.0) return rules;
  PhiloxGenerator& generator = generator_to_draw(query.device());
  const std::int64_t scores = query.size(0) * query.size(1) * query.size(2) * key.size(2);
  rules.seed = generator.seed;
  rules.first_draw = generator.take(static_cast<std::uint64_t>(scores));
  return rules;
}

Tensor generator_numbers(const Tensor& like, const Shape& shape) {
  return empty(shape, {DType::int64, like.device()});
}

TensorOptions float32_on(const Tensor& like) { return {DType::float32, like.device()}; }

// ---- flash --------------------------------------------------------------------------------------

// Into how many parts flash splits the keys, so that a GPU of twice as many blocks as it has
// multiprocessors is busy: the fewest that come near the best use of its waves of blocks.
std::int64_t key_splits(std::int64_t row_blocks, std::int64_t key_blocks, std::int64_t places) {
  if (static_cast<double>(row_blocks) >= 0.8 * static_cast<double>(places)) return 1;
  constexpr std::int64_t kMostSplits = 128;
  const std::int64_t most = std::min({kMostSplits, places, key_blocks});
  const auto efficiency = [&](std::int64_t splits) {
    const double waves = static_cast<double>(row_blocks * splits) / static_cast<double>(places);
    return waves / std::ceil(waves);
  };
  // Some numbers leave a part empty: they are no better than the one below.
  const auto is_eligible = [&](std::int64_t splits) {
    return splits == 1 || ceil_div(key_blocks, splits) != ceil_div(key_blocks, splits - 1);
  };
  double best = 0.0;
  for (std::int64_t splits = 1; splits <= most; ++splits) {
    if (is_eligible(splits)) best = std::max(best, efficiency(splits));
  }
  for (std::int64_t splits = 1; splits <= most; ++splits) {
    if (is_eligible(splits) && efficiency(splits) >= 0.85 * best) return splits;
  }
  return 1;
}

// The width of float32 sums: of partial results, and of the query's gradient.
std::int64_t summed_width(std::int64_t width) {
  constexpr std::int64_t kWide = 128;
  return round_up(width,
                  width > kWide && Context::current().rules.has_later_flash_attention ? 64 : 32);
}

// The partial results of each part of the keys, until the kernel has put them together.
struct SplitResults {
  Tensor out;
  Tensor logsumexp;

  SplitResults(const Tensor& query, const Tensor& key, double dropout_p) {
    if (dropout_p > 0.0) return;
    const std::int64_t width = query.size(3);
    const std::int64_t rows = query.size(2);
    const std::int64_t keys_per_block = width <= 64 ? 256 : (width <= 128 ? 128 : 64);
    const DeviceSlot& gpu = Context::current().slot(query.device());
    const std::int64_t splits =
        key_splits(query.size(0) * query.size(1) * ceil_div(rows, 64),
                   ceil_div(key.size(2), keys_per_block), std::int64_t{2} * gpu.multiprocessors);
    if (splits == 1) return;
    const Shape lines{splits, query.size(0), query.size(1), rows};
    Shape elements = lines;
    elements.push_back(summed_width(width));
    logsumexp = empty(lines, float32_on(query));
    out = empty(elements, float32_on(query));
  }
  SplitResults(const SplitResults&) = delete;
  SplitResults& operator=(const SplitResults&) = delete;
  // The later kernels let go of the logarithms first.
  ~SplitResults() {
    if (!Context::current().rules.has_later_flash_attention) out = Tensor();
  }
};

// Seed and offset, and a number that nothing uses. With dropout they are made anew.
struct FlashGeneratorState {
  Tensor unused;
  Tensor seed_and_offset;

  void make(const Tensor& query, double dropout_p) {
    if (!Context::current().rules.has_later_flash_attention) return;
    seed_and_offset = generator_numbers(query, {2});
    unused = generator_numbers(query, {});
    if (dropout_p > 0.0) seed_and_offset = generator_numbers(query, {2});
  }
  void save(Recorder& record) const {
    if (!seed_and_offset.defined()) return;
    record.save_output(seed_and_offset);
    record.save_output(unused);
  }
};

TensorList flash_backward(const BackwardCall& call, const AttentionRules& rules) {
  const Tensor key = call.saved(0);
  const Tensor query = call.saved(1);
  const Tensor value = call.saved(2);
  const Tensor grad = row_major(swapped(call.grad()));
  const Tensor out = row_major(swapped(call.saved(4)));
  const AttentionInputs gradients{swapped_result(empty_like(swapped(query))),
                                  swapped_result(empty_like(swapped(key))),
                                  swapped_result(empty_like(swapped(value))), Tensor()};
  const std::int64_t rows = round_up(query.size(2), 128);
  const Tensor softmax_sums = empty({query.size(0), query.size(1), rows}, float32_on(query));
  const Tensor query_sums =
      empty({query.size(0), rows, query.size(1), summed_width(query.size(3))}, float32_on(query));
  attention_backward({query, key, value, Tensor()}, rules, call.grad(), gradients,
                     {call.saved(3), softmax_sums});
  return {gradients.query, gradients.key, gradients.value};
}

// ---- efficient ----------------------------------------------------------------------------------

// Whether a block of threads may have 160 KiB of shared memory and more, as on the GPUs of data
// centres since the A100.
bool has_large_blocks(const std::array<int, 2>& compute_capability) {
  const auto [major, minor] = compute_capability;
  return major == 8 ? minor == 0 || minor == 7 : major >= 9 && major <= 11;
}

// The kernel that PyTorch picks for a backward pass: the largest blocks of queries and keys for
// which the device has shared memory.
struct BackwardTiles {
  std::int64_t queries = 64;
  std::int64_t keys = 64;
  bool sums_keys_in_memory = false;  ///< gradients of key and value do not fit the registers

  BackwardTiles(DType dtype, const std::array<int, 2>& compute_capability, std::int64_t width,
                bool drops) {
    constexpr std::int64_t kNarrow = 96;
    constexpr std::int64_t kWide = 128;
    const bool is_half = dtype != DType::float32;
    const bool is_large = has_large_blocks(compute_capability);
    if (width <= 64) return;
    if (!is_half) {
      queries = is_large ? 128 : 64;
      return;
    }
    const bool is_volta_or_turing = compute_capability[0] == 7;
    const bool fits = is_large || is_volta_or_turing || (width <= kNarrow && !drops);
    queries = width > kWide || fits ? 128 : 64;
    keys = is_large && width <= kWide ? 128 : 64;
    sums_keys_in_memory = width > kWide || !fits;
  }
};

std::int64_t backward_workspace_bytes(const Tensor& query, const Tensor& key, const Tensor& value,
                                      double dropout_p) {
  const std::int64_t width = query.size(3);
  const std::int64_t value_width = value.size(3);
  const std::int64_t heads = query.size(0) * query.size(1);
  const BackwardTiles tiles(query.dtype(),
                            Context::current().slot(query.device()).compute_capability,
                            std::max(width, value_width), dropout_p > 0.0);
  // Each tile of the query's gradient, as wide as a block of keys, begins with a lock and a
  // counter.
  constexpr std::int64_t kTileHeader = 4;
  const std::int64_t tile = kTileHeader + tiles.queries * tiles.keys;
  std::int64_t elements =
      ceil_div(query.size(2), tiles.queries) * ceil_div(width, tiles.keys) * tile;
  if (tiles.sums_keys_in_memory) {
    constexpr std::int64_t kMostParts = 200;
    std::int64_t parts = std::min(ceil_div(key.size(2), tiles.keys), kMostParts / heads);
    parts = heads > 256 ? 1 : std::max<std::int64_t>(parts, 1);
    elements += parts * tiles.keys *
                (round_up(width, tiles.queries) + round_up(value_width, tiles.queries));
  }
  return heads * round_up(elements, 4) * 4;
}

// Σ grad · out of each row, which half-precision kernels compute themselves.
Tensor row_products(const Tensor& grad, const Tensor& out) {
  if (grad.dtype() != DType::float32) {
    return empty({grad.size(0), grad.size(2), grad.size(1)}, float32_on(grad));
  }
  const Tensor product = map_new(grad, out, functors::Product());
  const Tensor sums = reduce_sum(product, with(0, 3), false, DType::float32);
  return row_major(make_view(sums, {sums.shape()[0], sums.shape()[2], sums.shape()[1]},
                             {sums.strides()[0], sums.strides()[2], sums.strides()[1]}, 0));
}

// The gradient of a bias whose rows are aligned to 16 elements.
Tensor bias_gradient(const Tensor& bias) {
  Shape sizes = bias.shape();
  sizes[3] = round_up(sizes[3], 16);
  const Tensor padded = empty(sizes, options_of(bias));
  Tensor result = make_view(padded, bias.shape(), padded.strides(), 0);
  result.impl()->is_view = false;
  return result;
}

TensorList efficient_backward(const BackwardCall& call, const AttentionRules& rules) {
  const AttentionInputs inputs{call.saved(2), call.saved(1), call.saved(3), call.saved(0)};
  const TensorOptions options = options_of(inputs.query);
  const Tensor grad = row_major(swapped(call.grad()));
  const auto gradient_of = [&](const Tensor& input) {
    return swapped_result(empty(swapped(input).shape(), options));
  };
  AttentionInputs gradients;
  gradients.query = gradient_of(inputs.query);
  // Keys that no query sees get no gradient from the kernel: theirs is zero from the beginning,
  // which makes no difference to what is allocated.
  gradients.key = gradient_of(inputs.key);
  gradients.value = gradient_of(inputs.value);
  if (call.needs(3)) gradients.bias = bias_gradient(inputs.bias);
  Tensor products = row_products(grad, swapped(call.saved(5)));
  const Tensor workspace =
      empty_bytes(backward_workspace_bytes(inputs.query, inputs.key, inputs.value, rules.dropout_p),
                  options.device);
  attention_backward(inputs, rules, call.grad(), gradients, {call.saved(4), products});
  products = Tensor();
  return {gradients.query, gradients.key, gradients.value, gradients.bias};
}

// ---- cuDNN --------------------------------------------------------------------------------------

// [B, H, L, width] whose dimensions lie in memory in the order of the query's.
Tensor laid_out_like(const Tensor& query, std::int64_t width) {
  if (width == query.size(3)) return empty_like(query);
  std::array order{3, 2, 1, 0};
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return query.strides()[a] < query.strides()[b]; });
  Shape sizes = query.shape();
  sizes[3] = width;
  Shape strides = sizes;
  std::int64_t stride = 1;
  for (const int dim : order) {
    strides[dim] = stride;
    stride *= sizes[dim];
  }
  return empty_strided(sizes, strides, options_of(query));
}

// What a plan takes for itself, in elements of float32.
std::int64_t elements_of_workspace(std::size_t bytes) {
  return static_cast<std::int64_t>(bytes / sizeof(float));
}

std::int64_t forward_workspace(const Tensor& query, const Tensor& value) {
  const DeviceSlot& gpu = Context::current().slot(query.device());
  if (!gpu.has_measured_cudnn) return 0;
  const AttentionShape shape{.query_heads = query.size(0) * query.size(1),
                             .value_heads = value.size(0) * value.size(1),
                             .queries = query.size(2),
                             .keys = value.size(2),
                             .value_width = value.size(3)};
  return elements_of_workspace(attention_forward_workspace_bytes(shape, gpu.multiprocessors));
}

std::int64_t backward_workspace(const Tensor& query) {
  const DeviceSlot& gpu = Context::current().slot(query.device());
  return gpu.has_measured_cudnn ? elements_of_workspace(kAttentionBackwardWorkspaceBytes) : 0;
}

TensorList cudnn_backward(const BackwardCall& call, const AttentionRules& rules) {
  const AttentionInputs inputs{call.saved(2), call.saved(1), call.saved(3), call.saved(0)};
  const Tensor& query = inputs.query;
  const AttentionInputs gradients{empty_like(query), empty_like(inputs.key),
                                  empty_like(inputs.value), Tensor()};
  Tensor grad = call.grad();
  if (grad.strides().back() != 1) {
    const Tensor rows = empty_like(call.saved(5));
    copy_into(rows, grad);
    grad = rows;
  }
  const std::int64_t lines = query.size(0) * query.size(1) * query.size(2);
  const Tensor workspace =
      empty({lines * (query.size(3) + 1) + backward_workspace(query)}, float32_on(query));
  const Tensor products = make_view(workspace, {query.size(0), query.size(1), query.size(2)},
                                    {query.size(1) * query.size(2), query.size(2), 1}, 0);
  attention_backward(inputs, rules, grad, gradients, {call.saved(4), products});
  return {gradients.query, gradients.key, gradients.value, Tensor()};
}

}  // namespace

Tensor flash_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                       const FusedAttention& options) {
  Recorder record("ScaledDotProductFlashAttentionBackward", {&query, &key, &value});
  record.save(key);
  record.save(query);
  record.save(value);
  const AttentionRules rules = rules_of(options, query, key);
  Tensor out = swapped_result(empty_like(swapped(query)));
  FlashGeneratorState state;
  const Tensor logsumexp = empty({query.size(0), query.size(1), query.size(2)}, float32_on(query));
  {
    const SplitResults parts(query, key, options.dropout_p);
    state.make(query, options.dropout_p);
    attention_forward({query, key, value, Tensor()}, rules, out, logsumexp);
  }
  record.save_output(logsumexp);
  record.save_output(out);
  state.save(record);
  record.attach(out, [rules](BackwardCall& call) { return flash_backward(call, rules); });
  return out;
}

Tensor efficient_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                           const Tensor& bias, const FusedAttention& options) {
  Recorder record("ScaledDotProductEfficientAttentionBackward", {&query, &key, &value, &bias});
  record.save(bias);
  record.save(key);
  record.save(query);
  record.save(value);
  const AttentionRules rules = rules_of(options, query, key);
  const std::int64_t rows = query.size(2);
  // With dropout they are the host's.
  const bool has_state =
      Context::current().rules.has_later_efficient_attention && options.dropout_p == 0.0;
  Tensor offset;
  const Tensor seed = has_state ? generator_numbers(query, {}) : Tensor();
  if (has_state) offset = generator_numbers(query, {});
  Tensor out =
      swapped_result(empty({query.size(0), rows, query.size(1), value.size(3)}, options_of(query)));
  const bool keeps_sums = record.needs(0) || record.needs(1) || record.needs(2);
  const Tensor logsumexp =
      empty({query.size(0), query.size(1), keeps_sums ? round_up(rows, 32) : 0}, float32_on(query));
  {
    // Kernels for wide values collect half-precision results in float32.
    constexpr std::int64_t kWidestInRegisters = 128;
    const bool collects = query.dtype() != DType::float32 && value.size(3) > kWidestInRegisters;
    const Tensor collected = collects ? empty(swapped(out).shape(), float32_on(query)) : Tensor();
    attention_forward({query, key, value, bias}, rules, out, logsumexp);
  }
  record.save_output(logsumexp);
  record.save_output(out);
  if (has_state) {
    record.save_output(offset);
    record.save_output(seed);
  }
  record.attach(out, [rules](BackwardCall& call) { return efficient_backward(call, rules); });
  return out;
}

Tensor cudnn_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                       const Tensor& bias, const FusedAttention& options) {
  Recorder record("ScaledDotProductCudnnAttentionBackward", {&query, &key, &value, &bias});
  record.save(bias);
  record.save(key);
  record.save(query);
  record.save(value);
  const AttentionRules rules = rules_of(options, query, key);
  Tensor offset;
  const Tensor seed = generator_numbers(query, {});
  offset = generator_numbers(query, {});
  Tensor out = laid_out_like(query, value.size(3));
  const bool keeps_sums = record.needs(0) || record.needs(1) || record.needs(2);
  const Tensor logsumexp =
      empty({query.size(0), query.size(1), keeps_sums ? query.size(2) : 0}, float32_on(query));
  {
    const std::int64_t workspace = forward_workspace(query, value);
    const Tensor taken = workspace > 0 ? empty({workspace}, float32_on(query)) : Tensor();
    attention_forward({query, key, value, bias}, rules, out, logsumexp);
  }
  record.save_output(logsumexp);
  record.save_output(out);
  record.save_output(offset);
  record.save_output(seed);
  record.attach(out, [rules](BackwardCall& call) { return cudnn_backward(call, rules); });
  return out;
}

}  // namespace ohm::ops
