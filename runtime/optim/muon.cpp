#include "runtime/optim/muon.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "runtime/arithmetic/factories.h"
#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/ops/arithmetic.h"
#include "runtime/ops/clamp.h"
#include "runtime/ops/convert.h"
#include "runtime/ops/inplace_binary.h"
#include "runtime/ops/lerp.h"
#include "runtime/ops/matrix_product.h"
#include "runtime/ops/norm.h"
#include "runtime/ops/view.h"
#include "runtime/tensor/context.h"

namespace ohm::optim {
namespace {

constexpr std::int64_t kMostSteps = 100;  // one less

bool is_known_adjustment(const std::optional<std::string>& name) {
  return !name || *name == "original" || *name == "match_rms_adamw" ||
         *name == "spectral_unclamped";
}

bool is_tall(const Tensor& matrix) { return matrix.size(0) > matrix.size(1); }

Tensor copy_in_bfloat16(const Tensor& matrix) {
  const bool is_copied =
      matrix.dtype() == DType::bfloat16 && Context::current().rules.muon_copies_bfloat16;
  return is_copied ? ops::clone(matrix) : ops::to_dtype(matrix, DType::bfloat16);
}

void divide_by_norm(const Tensor& matrix, double eps) {
  Tensor size = ops::norm(matrix, 2.0);
  size = ops::clamp(size, eps, std::nullopt);
  ops::div_(matrix, size);
}

}  // namespace

Muon::Muon(std::vector<Tensor> parameters, const MuonOptions& options)
    : Optimizer(std::move(parameters), options.lr, Form::for_loop), options_(options) {
  if (options.momentum < 0.0 || options.weight_decay < 0.0) {
    throw std::invalid_argument(
        fmt::format("[Muon] momentum and weight_decay should be >= 0, but they are {} and {}",
                    options.momentum, options.weight_decay));
  }
  if (!is_known_adjustment(options.adjust_lr_fn)) {
    throw std::invalid_argument(
        fmt::format("[Muon] adjust_lr_fn {} is not supported: \"original\", "
                    "\"match_rms_adamw\" and \"spectral_unclamped\" are",
                    *options.adjust_lr_fn));
  }
  if (options.ns_steps >= kMostSteps) {
    throw std::invalid_argument(
        fmt::format("[Muon] ns_steps must be less than {}, not {}", kMostSteps, options.ns_steps));
  }
  for (const Tensor& parameter : group_parameters()) {
    if (parameter.dims() == 2 && is_floating(parameter.dtype())) continue;
    throw std::invalid_argument(
        fmt::format("[Muon] only supports 2D parameters whereas we found a parameter with size: {}",
                    parameter.shape().str()));
  }
}

Tensor Muon::direction(const ParameterState& state) const {
  const Tensor grad = state.parameter.grad();
  const Tensor& buffer = state.tensors[0];
  ops::lerp_by_number_(buffer, grad, 1.0 - options_.momentum);
  if (!options_.nesterov) return buffer;
  return new_from(grad, buffer, functors::WeightedSum{1.0 - options_.momentum, options_.momentum});
}

Tensor Muon::orthogonal(const Tensor& update) const {
  const auto& [a, b, c] = options_.ns_coefficients;
  Tensor result = copy_in_bfloat16(update);
  if (is_tall(update)) result = ops::t(result);
  divide_by_norm(result, options_.eps);
  Tensor blend;  // goes after the product that it is made of, as Python's variables do
  Tensor product;
  for (std::int64_t step = 0; step < options_.ns_steps; ++step) {
    product = ops::raw_mm(result, ops::t(result));
    blend = ops::raw_weighted_addmm(product, product, product, b, c);
    result = ops::raw_weighted_addmm(result, blend, result, a, 1.0);
  }
  return is_tall(update) ? ops::t(result) : result;
}

double Muon::adjusted_rate(const Shape& shape) const {
  const auto rows = static_cast<double>(shape[0]);
  const auto columns = static_cast<double>(shape[1]);
  const std::string name = options_.adjust_lr_fn.value_or("original");
  if (name == "match_rms_adamw") return learning_rate() * 0.2 * std::sqrt(std::max(rows, columns));
  const double ratio = rows / columns;
  return learning_rate() * std::sqrt(name == "original" ? std::max(1.0, ratio) : ratio);
}

void Muon::update_each(const States& states) {
  for (ParameterState* const state : states) {
    Tensor& buffer = state->tensors[0];
    if (!buffer.defined()) buffer = zeros_like(state->parameter.grad());
  }
  Tensor update;  // Python's variable, which its function lets go when it returns
  for (ParameterState* const state : states) {
    const Tensor& parameter = state->parameter;
    update = direction(*state);
    update = orthogonal(update);
    ops::mul_(parameter, 1.0 - learning_rate() * options_.weight_decay);
    ops::add_(parameter, update, -adjusted_rate(parameter.shape()));
  }
}

}  // namespace ohm::optim
