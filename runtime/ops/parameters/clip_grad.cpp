#include "runtime/ops/parameters/clip_grad.h"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>

#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/base/ceil_div.h"
#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/kernels/launch/elementwise.h"
#include "runtime/kernels/launch/host_values.h"
#include "runtime/ops/conversion/convert.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/pointwise/clamp.h"
#include "runtime/ops/pointwise/comparison.h"
#include "runtime/ops/pointwise/inplace_binary.h"
#include "runtime/ops/pointwise/pointwise_math.h"
#include "runtime/ops/reduction/norm.h"
#include "runtime/ops/shape/concat.h"
#include "runtime/ops/shape/view.h"
#include "runtime/tensor/context.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kClipGradNorm{"clip_grad_norm_"};
constexpr OpInfo kClipGradValue{"clip_grad_value_"};
constexpr OpInfo kGetTotalNorm{"get_total_norm"};
constexpr OpInfo kClipGradsWithNorm{"clip_grads_with_norm_"};

/// What a foreach kernel hands to one block at a time.
constexpr std::int64_t kChunkElements = 65536;

std::vector<Tensor> gradients_of(const std::vector<Tensor>& parameters) {
  std::vector<Tensor> grads;
  for (const Tensor& parameter : parameters) {
    if (Tensor grad = parameter.grad(); grad.defined()) grads.push_back(std::move(grad));
  }
  return grads;
}

// A list of Python's: it goes from the last to the first.
void let_go(std::vector<Tensor>& tensors) {
  while (!tensors.empty()) tensors.pop_back();
}

// The temporaries of the kernel that takes the norms of a list: a partial result for each chunk. It
// either knows where those of each gradient begin, or takes all to be as long as the longest.
class PartialNorms {
 public:
  explicit PartialNorms(const std::vector<Tensor>& grads) {
    const Device device = grads[0].device();
    const auto count = static_cast<std::int64_t>(grads.size());
    const bool knows_beginnings = Context::current().rules.list_norms_count_chunks;
    if (knows_beginnings) beginnings_ = empty({count + 1}, {DType::int64, device});
    std::int64_t all = 0;
    std::int64_t most = 0;
    for (const Tensor& grad : grads) {
      const std::int64_t chunks = ceil_div(grad.numel(), kChunkElements);
      all += chunks;
      most = std::max(most, chunks);
    }
    const bool is_double = grads[0].dtype() == DType::float64;
    results_ = zeros({knows_beginnings ? all : count * most},
                     {is_double ? DType::float64 : DType::float32, device});
  }

 private:
  Tensor beginnings_;
  Tensor results_;
};

// One kernel for gradients of one device and dtype, then a norm for each.
void append_foreach_norms(const std::vector<Tensor>& grads, double p, std::vector<Tensor>& norms) {
  const PartialNorms temporaries(grads);
  for (const Tensor& grad : grads) {
    norms.push_back(empty({}, options_of(grad)));
    norm_into(norms.back(), grad, p);
  }
}

// The gradients grouped by device and dtype, in order of appearance.
std::vector<std::vector<Tensor>> grouped(const std::vector<Tensor>& grads) {
  std::vector<std::vector<Tensor>> groups;
  for (const Tensor& grad : grads) {
    const auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& known) {
      return known[0].device() == grad.device() && known[0].dtype() == grad.dtype();
    });
    if (group == groups.end()) {
      groups.push_back({grad});
    } else {
      group->push_back(grad);
    }
  }
  return groups;
}

void require_finite(const Tensor& total, double norm_type) {
  Tensor either;
  {
    Tensor is_nan = isnan(total);
    const Tensor is_infinite = isinf(total);
    either = logical_or(is_nan, is_infinite);
    is_nan = Tensor();
  }
  if (!either.has_values() || to_doubles(either)[0] == 0.0) return;
  throw std::runtime_error(fmt::format(
      "The total norm of order {} for gradients from `parameters` is non-finite, so it cannot be "
      "clipped. To disable this error and scale the gradients by the non-finite norm anyway, set "
      "`error_if_nonfinite = false`",
      norm_type));
}

// PyTorch takes lists of plain tensors alone to one kernel of its own accord.
bool has_parameter(const std::vector<Tensor>& tensors) {
  return std::any_of(tensors.begin(), tensors.end(), [](const Tensor& tensor) {
    return tensor.is_leaf() && tensor.requires_grad();
  });
}

Tensor total_norm(const std::vector<std::vector<Tensor>>& groups, double p, bool error_if_nonfinite,
                  std::optional<bool> foreach) {
  std::vector<Tensor> norms;
  for (const std::vector<Tensor>& group : groups) {
    if (foreach.value_or(group[0].device().is_cuda() && !has_parameter(group))) {
      append_foreach_norms(group, p, norms);
    } else {
      for (const Tensor& grad : group) norms.push_back(norm(grad, p));
    }
  }
  std::vector<Tensor> gathered;
  for (const Tensor& each : norms) gathered.push_back(to_device(each, norms[0].device()));
  Tensor total = norm(stack(gathered, 0), p);
  gathered.clear();
  if (error_if_nonfinite) require_finite(total, p);
  let_go(norms);
  return total;
}

}  // namespace

Tensor get_total_norm(const std::vector<Tensor>& tensors, double norm_type, bool error_if_nonfinite,
                      std::optional<bool> foreach) {
  const OpFront front(kGetTotalNorm);
  for (const Tensor& tensor : tensors) require_floating(tensor, kGetTotalNorm);
  const NoGradGuard no_grad;
  if (tensors.empty()) return zeros({}, {});
  return total_norm(grouped(tensors), norm_type, error_if_nonfinite, foreach);
}

void clip_grads_with_norm_(const std::vector<Tensor>& parameters, double max_norm,
                           const Tensor& total_norm) {
  const OpFront front(kClipGradsWithNorm);
  const NoGradGuard no_grad;
  const std::vector<Tensor> grads = gradients_of(parameters);
  if (grads.empty()) return;
  // max_norm / (total + ε), which is at most 1.
  Tensor limit;
  {
    const Tensor divisor = add(total_norm, 1e-6);
    limit = mul(reciprocal(divisor), max_norm);
  }
  Tensor factor = clamp(limit, std::nullopt, 1.0);
  for (const auto& group : grouped(grads)) {
    const Tensor there = to_device(factor, group[0].device());
    for (const Tensor& grad : group) mul_(grad, there);
  }
  limit = Tensor();
  factor = Tensor();
}

Tensor clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm, double norm_type,
                       bool error_if_nonfinite, std::optional<bool> foreach) {
  const OpFront front(kClipGradNorm);
  Tensor total = get_total_norm(gradients_of(parameters), norm_type, error_if_nonfinite, foreach);
  clip_grads_with_norm_(parameters, max_norm, total);
  return total;
}

void clip_grad_value_(const std::vector<Tensor>& parameters, double clip_value) {
  const OpFront front(kClipGradValue);
  for (const Tensor& grad : gradients_of(parameters)) {
    map_floating(grad, grad.dtype(), functors::Clamp{-clip_value, clip_value}, grad);
    grad.bump_version();
  }
}

namespace {

// As rows call it: an op returns a value, here none.
Value clip_value_row(const std::vector<Tensor>& parameters, double clip_value) {
  clip_grad_value_(parameters, clip_value);
  return {};
}

// A parameter `foreach`, which changes no bytes here, as PyTorch has it.
Value clip_with_norm_row(const std::vector<Tensor>& parameters, double max_norm,
                         const Tensor& total_norm, std::optional<bool> /*foreach*/) {
  clip_grads_with_norm_(parameters, max_norm, total_norm);
  return {};
}

}  // namespace

std::vector<OpDef> clip_grad_ops() {
  return {
      define(
          kClipGradNorm, kUtility, &clip_grad_norm_,
          {"parameters", "max_norm", {"norm_type", 2.0}, {"error_if_nonfinite", false}, "foreach"}),
      define(kGetTotalNorm, kUtility, &get_total_norm,
             {"tensors", {"norm_type", 2.0}, {"error_if_nonfinite", false}, "foreach"}),
      define(kClipGradsWithNorm, kUtility, &clip_with_norm_row,
             {"parameters", "max_norm", "total_norm", "foreach"}),
      define(kClipGradValue, kUtility, &clip_value_row, {"parameters", "clip_value"}),
  };
}

}  // namespace ohm::ops
