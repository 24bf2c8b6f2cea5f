#include "runtime/optim/adafactor.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "runtime/base/float_epsilon.h"
#include "runtime/kernels/functors/functions.h"
#include "runtime/ops/conversion/convert.h"
#include "runtime/ops/matmul/matmul.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/pointwise/clamp.h"
#include "runtime/ops/pointwise/inplace_binary.h"
#include "runtime/ops/pointwise/inplace_unary.h"
#include "runtime/ops/pointwise/lerp.h"
#include "runtime/ops/reduction/norm.h"
#include "runtime/ops/reduction/reduction.h"

namespace ohm::optim {
namespace {

enum AdafactorSlot : std::size_t {
  kAdafactorStep,
  kAdafactorRows,
  kAdafactorColumns,
  kAdafactorVariance
};

constexpr double kLeastScale = 1e-3;

double norm_of(const Tensor& tensor) { return ops::norm(tensor, 2.0).item(); }

double root_of_count(const Tensor& tensor) {
  return std::sqrt(static_cast<double>(tensor.numel()));
}

// Of the squares along `dim`, which are not made.
Tensor mean_square(const Tensor& grad, std::int64_t dim) {
  Tensor mean = ops::norm(grad, 2.0, Shape{dim}, true);
  ops::mul_(mean, mean);
  ops::div_(mean, static_cast<double>(grad.size(dim)));
  return mean;
}

Tensor zeros_summed_over(const Tensor& parameter, int dim) {
  Shape shape = parameter.shape();
  shape[dim] = 1;
  return zeros(shape, options_of(parameter));
}

}  // namespace

/// In the reverse of the order in which they go.
struct Adafactor::Frame {
  double least = 0.0;  ///< of what is divided by: the first parameter's dtype decides
  Tensor update;
  Tensor estimate;
  Tensor squares;
  Tensor column_mean;
  Tensor row_mean;
  Tensor grad;
};

Adafactor::Adafactor(std::vector<Tensor> parameters, const AdafactorOptions& options)
    : Optimizer(std::move(parameters), options.lr, Form::for_loop), options_(options) {
  if (options.beta2_decay <= 0.0 && options.d >= 1.0 && options.weight_decay >= 0.0) return;
  throw std::invalid_argument(
      fmt::format("[Adafactor] beta2_decay should be <= 0, d >= 1 and weight_decay >= 0, but they "
                  "are {}, {} and {}",
                  options.beta2_decay, options.d, options.weight_decay));
}

void Adafactor::make_state(ParameterState& state) {
  state.tensors[kAdafactorStep] = step_count(Device::cpu());
  const Tensor& parameter = state.parameter;
  if (parameter.dims() > 1) {
    state.tensors[kAdafactorRows] = zeros_summed_over(parameter, parameter.dims() - 1);
    state.tensors[kAdafactorColumns] = zeros_summed_over(parameter, parameter.dims() - 2);
  } else {
    state.tensors[kAdafactorVariance] = zeros_like(parameter.grad());
  }
}

void Adafactor::estimate(Frame& frame, ParameterState& state, double weight) const {
  const Tensor& grad = frame.grad;
  if (grad.dims() <= 1) {
    if (!state.tensors[kAdafactorVariance].defined()) {
      refuse_incomplete(state, "AssertionError: variance should be defined when grad is a vector");
    }
    frame.squares = ops::mul(grad, grad);
    ops::lerp_by_number_(state.tensors[kAdafactorVariance], frame.squares, weight);
    frame.estimate = ops::clone(state.tensors[kAdafactorVariance]);
    return;
  }
  const Tensor& rows = state.tensors[kAdafactorRows];
  const Tensor& columns = state.tensors[kAdafactorColumns];
  if (!rows.defined() || !columns.defined()) {
    refuse_incomplete(state,
                      "AssertionError: row_var and col_var should be defined when grad is "
                      "multidimensional");
  }
  frame.row_mean = mean_square(grad, -1);
  ops::lerp_by_number_(rows, frame.row_mean, weight);
  frame.column_mean = mean_square(grad, -2);
  ops::lerp_by_number_(columns, frame.column_mean, weight);
  frame.estimate = ops::matmul(rows, columns);
  const Tensor divisor = ops::mean(rows, Shape{-2}, true);
  ops::clamp_(divisor, frame.least, std::nullopt);
  ops::div_(frame.estimate, divisor);
}

void Adafactor::update_one(Frame& frame, ParameterState& state) const {
  const Tensor& parameter = state.parameter;
  frame.grad = options_.maximize ? ops::neg(parameter.grad()) : parameter.grad();
  advance(state);
  const auto step = static_cast<double>(state.steps);
  const double rho = std::min(learning_rate(), 1.0 / std::sqrt(step));
  const double alpha = std::max(kLeastScale, norm_of(parameter) / root_of_count(parameter)) * rho;
  if (options_.weight_decay != 0.0) {
    ops::mul_(parameter, 1.0 - learning_rate() * options_.weight_decay);
  }
  estimate(frame, state, std::pow(step, options_.beta2_decay));
  ops::clamp_(frame.estimate, frame.least * frame.least, std::nullopt);
  update(frame.estimate, functors::Rsqrt());
  frame.update = frame.estimate;
  ops::mul_(frame.update, frame.grad);
  const double size = norm_of(frame.update) / (root_of_count(frame.update) * options_.d);
  ops::add_(parameter, frame.update, -alpha / std::max(1.0, size));
}

void Adafactor::update_each(const States& states) {
  Frame frame;
  for (ParameterState* const state : states) {
    if (frame.least == 0.0) frame.least = *find_epsilon(state->parameter.dtype());
    update_one(frame, *state);
  }
}

}  // namespace ohm::optim
