#include "runtime/ops/attention/attention.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/autocast_guard.h"
#include "runtime/ops/activation/softmax.h"
#include "runtime/ops/attention/attention_fused.h"
#include "runtime/ops/conversion/convert.h"
#include "runtime/ops/matmul/matmul.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/pointwise/binary_kernel.h"
#include "runtime/ops/pointwise/choice.h"
#include "runtime/ops/pointwise/inplace_binary.h"
#include "runtime/ops/random/dropout.h"
#include "runtime/ops/shape/rearrange.h"
#include "runtime/ops/shape/slice.h"
#include "runtime/ops/shape/view.h"
#include "runtime/tensor/context.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kAttention{"scaled_dot_product_attention", CastPolicy::low_precision};

struct Attention {
  Tensor query;
  Tensor key;
  Tensor value;
  std::optional<Tensor> mask;
  double dropout_p = 0.0;
  bool is_causal = false;
  double scale = 1.0;
};

bool is_half(DType dtype) { return dtype == DType::float16 || dtype == DType::bfloat16; }

void check(const Attention& call) {
  const auto refuse = [](const std::string& text) {
    throw std::invalid_argument(fmt::format("[{}] {}", kAttention.name, text));
  };
  const Tensor& query = call.query;
  for (const Tensor* other : {&call.key, &call.value}) {
    require_same_device(query, *other, kAttention);
    if (other->dtype() != query.dtype()) {
      refuse(fmt::format("query, key and value must have one dtype, but they are {}, {} and {}",
                         name_of(query.dtype()), name_of(call.key.dtype()),
                         name_of(call.value.dtype())));
    }
  }
  const bool fits = query.dims() >= 2 && call.key.dims() >= 2 && call.value.dims() >= 2 &&
                    is_floating(query.dtype()) && query.size(-1) == call.key.size(-1) &&
                    call.key.size(-2) == call.value.size(-2);
  if (!fits) {
    refuse(fmt::format("query {}, key {} and value {} do not belong together", query.shape().str(),
                       call.key.shape().str(), call.value.shape().str()));
  }
  if (call.is_causal && call.mask) refuse("an explicit attn_mask goes without is_causal");
  if (call.mask) require_same_device(query, *call.mask, kAttention);
}

// A bool mask as numbers to add to the scores.
Tensor additive_mask(const Tensor& mask, DType dtype) {
  if (mask.dtype() != DType::boolean) return mask;
  const TensorOptions options{dtype, mask.device()};
  const Tensor left_out = full({}, -std::numeric_limits<double>::infinity(), options);
  const Tensor taking_part = full({}, 0.0, options);
  return where(mask, taking_part, left_out);
}

// ---- step by step -------------------------------------------------------------------------------

Tensor causal_mask(const Tensor& query, const Tensor& key) {
  const Shape scores{query.size(-2), key.size(-2)};
  const Tensor mask = tril(ones(scores, {DType::boolean, query.device()}), 0);
  return additive_mask(mask, query.dtype());
}

// The result, and the weights, which PyTorch hands out too. Half precision is computed in float32.
std::pair<Tensor, Tensor> attention_by_steps(const Attention& call) {
  const DType dtype = call.query.dtype();
  const DType computed = is_half(dtype) ? DType::float32 : dtype;
  const Tensor query = to_dtype(call.query, computed);
  const Tensor key = to_dtype(call.key, computed);
  const Tensor value = to_dtype(call.value, computed);
  // Scaling both operands keeps the product in range.
  const double factor = std::sqrt(std::abs(call.scale));
  Tensor mask = call.mask.value_or(Tensor());
  const Tensor scaled_query = mul(query, call.scale < 0 ? -factor : factor);
  if (call.is_causal) mask = causal_mask(scaled_query, key);
  Tensor weights = matmul(scaled_query, mul(transpose(key, -2, -1), factor));
  if (mask.defined()) weights = add_(weights, mask);
  weights = safe_softmax(weights);
  if (call.dropout_p > 0.0) weights = dropout(weights, call.dropout_p, true);
  Tensor rounded_weights = to_dtype(weights, dtype);
  return {to_dtype(matmul(weights, value), dtype), std::move(rounded_weights)};
}

// ---- which way ----------------------------------------------------------------------------------

bool can_fuse(const Attention& call) {
  const Tensor& query = call.query;
  const auto fits = [&](const Tensor& tensor) {
    return tensor.dims() == 4 && tensor.size(0) == query.size(0) &&
           tensor.size(1) == query.size(1) && tensor.numel() != 0;
  };
  return query.device().is_cuda() && fits(query) && fits(call.key) && fits(call.value);
}

// The kernels read rows: their elements must lie behind one another.
bool has_dense_rows(const Tensor& tensor) { return tensor.strides().back() == 1; }

// A row of one element has no other behind it.
bool has_rows(const Tensor& tensor) { return tensor.size(-1) == 1 || has_dense_rows(tensor); }

bool wants_gradients(const Attention& call) {
  return Context::current().state.grad_enabled &&
         (call.query.requires_grad() || call.key.requires_grad() || call.value.requires_grad());
}

// GPUs of compute capability 8.6 to 8.9 have too little shared memory for the gradients of some
// wide heads.
bool has_flash_gradients(const Attention& call, const std::array<int, 2>& compute_capability) {
  if (compute_capability[0] != 8 || compute_capability[1] < 6) return true;
  const std::int64_t width = call.query.size(-1);
  return width <= 192 || (width > 224 && call.dropout_p == 0.0);
}

bool can_flash(const Attention& call) {
  constexpr std::int64_t kWidest = 256;
  const std::int64_t width = call.query.size(-1);
  Context& context = Context::current();
  const std::array<int, 2>& capability = context.slot(call.query.device()).compute_capability;
  return context.state.attention_kernels.flash && capability[0] >= 8 &&
         (!wants_gradients(call) || has_flash_gradients(call, capability)) &&
         is_half(call.query.dtype()) && !call.mask && width <= kWidest &&
         call.value.size(-1) == width &&
         !(call.is_causal && call.query.size(-2) != call.key.size(-2)) && has_rows(call.query) &&
         has_rows(call.key) && has_rows(call.value);
}

// Which widths of the keys and of the values cuDNN takes, and for which of them it has gradients.
bool has_widths_of_cudnn(const Attention& call) {
  constexpr std::int64_t kAlignment = 8;
  constexpr std::int64_t kWide = 128;
  constexpr std::int64_t kWidest = 256;
  constexpr std::pair<std::int64_t, std::int64_t> kWithLatentKeys{192, 128};
  const std::pair widths{call.query.size(-1), call.value.size(-1)};
  const auto [least, most] = std::minmax(widths.first, widths.second);
  if (most > kWidest || least % kAlignment != 0 || most % kAlignment != 0) return false;
  return !Context::current().rules.cudnn_attention_is_narrower || !wants_gradients(call) ||
         most <= kWide || least == kWidest || widths == kWithLatentKeys;
}

bool has_dropout_of_cudnn(const Attention& call) {
  constexpr double kSteps = 16.0;
  const double steps = call.dropout_p * kSteps;
  return !Context::current().rules.cudnn_attention_is_narrower || steps == std::floor(steps);
}

bool is_cudnn_preferred(const Attention& call) {
  constexpr int kHopper = 9;
  constexpr int kBlackwell = 10;  // of data centres: that of workstations is 12
  Context& context = Context::current();
  const int capability = context.slot(call.query.device()).compute_capability[0];
  const bool drops = call.dropout_p > 0.0;
  const bool has_mask_gradient =
      call.mask && call.mask->requires_grad() && context.state.grad_enabled;
  return context.rules.prefers_cudnn_attention && context.state.attention_kernels.cudnn &&
         (capability == kHopper || capability == kBlackwell) && is_half(call.query.dtype()) &&
         has_widths_of_cudnn(call) && !has_mask_gradient && has_dropout_of_cudnn(call) &&
         call.key.size(-2) != 1 && !(drops && call.query.size(-2) == 1) && has_rows(call.query) &&
         has_rows(call.key) && has_rows(call.value);
}

// Memory comes in multiples of more: a view alone may begin elsewhere.
bool is_aligned(const Tensor& tensor) {
  constexpr std::size_t kBytes = 16;
  return tensor.offset_bytes() % kBytes == 0;
}

bool can_be_efficient(const Attention& call) {
  const DType dtype = call.query.dtype();
  const int capability = Context::current().slot(call.query.device()).compute_capability[0];
  const bool has_kernel = dtype == DType::float32 || dtype == DType::float16 ||
                          (dtype == DType::bfloat16 && capability >= 8);
  // Tensor cores load 16 bytes at once.
  const bool has_tensor_cores = capability >= 8 || (capability >= 7 && is_half(dtype));
  const std::int64_t alignment = has_tensor_cores ? (is_half(dtype) ? 8 : 4) : 1;
  return Context::current().state.attention_kernels.efficient && capability >= 5 && has_kernel &&
         call.query.size(-1) % alignment == 0 && call.value.size(-1) % alignment == 0 &&
         has_dense_rows(call.query) && has_dense_rows(call.key) && has_dense_rows(call.value) &&
         (!Context::current().rules.has_later_efficient_attention ||
          (is_aligned(call.query) && is_aligned(call.key) && is_aligned(call.value))) &&
         (!call.mask || has_dense_rows(*call.mask));
}

Tensor by_flash(const Attention& call) {
  constexpr std::int64_t kAlignment = 8;
  const std::int64_t width = call.query.size(-1);
  const FusedAttention options{call.dropout_p, call.is_causal, call.scale};
  if (width % kAlignment == 0) return flash_attention(call.query, call.key, call.value, options);
  const Shape missing{0, kAlignment - width % kAlignment};
  const auto padded = [&](const Tensor& tensor) { return pad(tensor, missing, "constant", 0.0); };
  const Tensor query = padded(call.query);
  const Tensor key = padded(call.key);
  const Tensor value = padded(call.value);
  return narrow(flash_attention(query, key, value, options), -1, 0, width);
}

Shape shape_of_scores(const Attention& call) {
  return {call.query.size(0), call.query.size(1), call.query.size(2), call.key.size(2)};
}

// A bias for the kernel: rows that begin at multiples of 16 bytes, seen for every head.
Tensor aligned_bias(const Tensor& mask, const Shape& scores) {
  constexpr std::int64_t kAlignment = 8;
  Tensor bias = mask;
  bool is_aligned = true;
  for (int dim = 0; dim < mask.dims() - 1; ++dim) {
    is_aligned = is_aligned && mask.strides()[dim] % kAlignment == 0;
  }
  if (!is_aligned) {
    const std::int64_t width = mask.size(-1);
    const Shape missing{0, kAlignment - width % kAlignment};
    bias = narrow(pad(mask, missing, "constant", 0.0), -1, 0, width);
  }
  return expand(bias, scores);
}

Tensor by_efficient(Attention call) {
  Tensor bias;
  if (call.mask) {
    bias = aligned_bias(*call.mask, shape_of_scores(call));
    call.mask.reset();
  }
  return efficient_attention(call.query, call.key, call.value, bias,
                             {call.dropout_p, call.is_causal, call.scale});
}

Tensor by_cudnn(Attention call) {
  DeviceSlot& gpu = Context::current().slot(call.query.device());
  if (!gpu.has_measured_cudnn) gpu.assumptions.add(Assumption::cudnn_attention);
  Tensor bias;
  if (call.mask) bias = expand(*call.mask, shape_of_scores(call));
  call.mask.reset();
  return cudnn_attention(call.query, call.key, call.value, bias,
                         {call.dropout_p, call.is_causal, call.scale});
}

Tensor computed(Attention call) {
  if (can_fuse(call) && is_cudnn_preferred(call)) return by_cudnn(std::move(call));
  if (can_fuse(call) && can_flash(call)) return by_flash(call);
  if (can_fuse(call) && can_be_efficient(call)) return by_efficient(std::move(call));
  if (!Context::current().state.attention_kernels.math) {
    throw std::invalid_argument(fmt::format(
        "[{}] no kernel that is allowed can compute query {}, key {} and value {}", kAttention.name,
        describe(call.query), describe(call.key), describe(call.value)));
  }
  return attention_by_steps(call).first;
}

void make_batch_of_one(Attention& call) {
  for (Tensor* const tensor : {&call.query, &call.key, &call.value}) {
    *tensor = unsqueeze(*tensor, 0);
  }
  if (call.mask && call.mask->dims() == 3) call.mask = unsqueeze(*call.mask, 0);
}

}  // namespace

Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const std::optional<Tensor>& attn_mask, double dropout_p,
                                    bool is_causal, std::optional<double> scale) {
  const OpFront front(kAttention);
  const std::optional<Tensor> mask = front.input(attn_mask);  // a cast of it stays to the end
  Tensor cast_value = front.input(value);
  Tensor cast_key = front.input(key);
  Attention call{front.input(query),
                 std::move(cast_key),
                 std::move(cast_value),
                 mask,
                 dropout_p,
                 is_causal,
                 1.0};
  check(call);
  call.scale = scale.value_or(1.0 / std::sqrt(static_cast<double>(call.query.size(-1))));
  // What is inside runs in the dtype of the inputs.
  const AutocastGuard plain(false, autocast_settings().dtype);
  const bool is_batch = Context::current().rules.attention_of_three_dims_is_a_batch &&
                        call.query.dims() == 3 && call.key.dims() == 3 && call.value.dims() == 3;
  if (is_batch) make_batch_of_one(call);
  if (call.mask) call.mask = additive_mask(*call.mask, call.query.dtype());
  const Tensor result = computed(std::move(call));
  return is_batch ? squeeze(result, 0) : result;
}

bool is_attention_fused(const Tensor& query, const Tensor& key, const Tensor& value) {
  const Attention call{query, key, value, std::nullopt, 0.0, false, 1.0};
  return can_fuse(call) && (is_cudnn_preferred(call) || can_flash(call) || can_be_efficient(call));
}

SequenceKernel kernel_of_sequences(const Tensor& query) {
  constexpr std::int64_t kAlignmentOfFlash = 8;
  const Attention call{query, query, query, std::nullopt, 0.0, false, 1.0};
  if (!can_fuse(call)) return SequenceKernel::none;
  if (query.size(-1) % kAlignmentOfFlash == 0 && can_flash(call)) return SequenceKernel::flash;
  return can_be_efficient(call) ? SequenceKernel::efficient : SequenceKernel::none;
}

std::vector<OpDef> attention_ops() {
  return {define(
      kAttention, kCppFunctional, &scaled_dot_product_attention,
      {"query", "key", "value", "attn_mask", {"dropout_p", 0.0}, {"is_causal", false}, "scale"})};
}

}  // namespace ohm::ops
