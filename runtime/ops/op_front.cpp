#include "runtime/ops/op_front.h"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>

#include "runtime/autograd/autograd_state.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/autograd/variable.h"
#include "runtime/ops/conversion/convert.h"
#include "runtime/tensor/context.h"

namespace ohm::ops {
namespace {

bool is_half_precision(DType dtype) { return dtype == DType::float16 || dtype == DType::bfloat16; }

// Double stays double, integers stay integers, the host has no autocast here.
bool is_eligible(const Tensor& tensor) {
  return tensor.defined() && tensor.device().is_cuda() &&
         (tensor.dtype() == DType::float32 || is_half_precision(tensor.dtype()));
}

// A cast that later calls find, too: those with a graph need it to be in one.
Tensor kept_cast(const Tensor& tensor, DType dtype) {
  if (!Context::current().rules.kept_casts_have_graphs) return to_dtype(tensor, dtype);
  const GradModeGuard with_graph(true);
  return to_dtype(tensor, dtype);
}

// What has to be in a graph is not kept under inference_mode, where there is none.
bool keeps_casts() {
  const Context& context = Context::current();
  return !context.rules.kept_casts_have_graphs || !context.state.inference_mode;
}

Tensor cached_cast(AutocastState& state, const Tensor& tensor) {
  const bool is_cacheable = state.caches_casts && keeps_casts() &&
                            tensor.dtype() == DType::float32 && tensor.requires_grad() &&
                            tensor.is_leaf() && !tensor.impl()->is_view;
  if (!is_cacheable) return to_dtype(tensor, state.dtype);
  Tensor cast = state.cache.find(tensor);
  if (cast.defined()) return cast;
  cast = kept_cast(tensor, state.dtype);
  state.cache.add(tensor, cast);
  return cast;
}

}  // namespace

Tensor autocast_input(CastPolicy policy, const Tensor& tensor) {
  AutocastState* state = find_autocast_state();
  if (policy == CastPolicy::none || policy == CastPolicy::float32_result) return tensor;
  if (state == nullptr || !state->is_enabled) return tensor;
  if (!is_eligible(tensor)) return tensor;
  if (policy == CastPolicy::low_precision) {
    return tensor.dtype() == state->dtype ? tensor : cached_cast(*state, tensor);
  }
  return to_dtype(tensor, DType::float32);
}

void OpFront::forbid_other_half(const std::vector<Tensor>& tensors) const {
  const AutocastState* state = find_autocast_state();
  if (state == nullptr || !state->is_enabled) return;
  for (const Tensor& tensor : tensors) {
    if (!is_eligible(tensor) || tensor.dtype() == state->dtype) continue;
    if (tensor.dtype() == DType::float32) return;
    throw std::invalid_argument(fmt::format(
        "[{}] Unexpected floating ScalarType in at::autocast::prioritize: {} under autocast to {}",
        info_.name, name_of(tensor.dtype()), name_of(state->dtype)));
  }
}

std::vector<Tensor> OpFront::widest(std::vector<Tensor> tensors) const {
  forbid_other_half(tensors);
  DType dtype = tensors[0].dtype();
  for (const Tensor& tensor : tensors) dtype = promote_types(dtype, tensor.dtype());
  if (dtype != DType::float32) return tensors;
  std::for_each(tensors.rbegin(), tensors.rend(), [&](Tensor& tensor) { tensor = input(tensor); });
  return tensors;
}

std::optional<DType> OpFront::result_dtype(const Tensor& input, std::optional<DType> asked) const {
  const AutocastState* state = find_autocast_state();
  const bool is_cast = info_.cast == CastPolicy::float32_result && state != nullptr &&
                       state->is_enabled && is_eligible(input);
  return asked || !is_cast ? asked : DType::float32;
}

}  // namespace ohm::ops
