#include "runtime/amp/grad_scaler.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/kernels/functors/rows.h"
#include "runtime/kernels/launch/elementwise.h"
#include "runtime/kernels/launch/row_kernels.h"
#include "runtime/lifetimes/lifetimes.h"
#include "runtime/ops/conversion/convert.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/pointwise/pointwise_math.h"
#include "runtime/tensor/context.h"
#include "runtime/tensor/cuda_graph.h"

namespace ohm::amp {
namespace {

Tensor new_scalar(double value, DType dtype, Device device) {
  const CategoryGuard category(Category::optimizer_state);
  Tensor scalar = empty({}, {dtype, device});
  fill_values(scalar, value);
  return scalar;
}

Tensor copied_to(Device device, const Tensor& scalar) {
  const CategoryGuard category(Category::optimizer_state);
  return device == scalar.device() ? copy_of(scalar) : transfer(scalar, device);
}

// What the runtime itself reads is 0 on size-only devices: every step is then executed.
double read(const Tensor& scalar) {
  refuse_in_capture(scalar.device());
  return scalar.has_values() ? scalar.item() : 0.0;
}

bool is_float16(const Tensor& tensor) { return tensor.dtype() == DType::float16; }

void require_factors(double growth_factor, double backoff_factor) {
  if (!(growth_factor > 1.0)) {
    throw std::invalid_argument("[GradScaler] the growth factor must be > 1.0");
  }
  if (!(backoff_factor > 0.0 && backoff_factor < 1.0)) {
    throw std::invalid_argument("[GradScaler] the backoff factor must be between 0.0 and 1.0");
  }
}

}  // namespace

GradScaler::GradScaler(const GradScalerOptions& options) : options_(options) {
  if (options.enabled) require_factors(options.growth_factor, options.backoff_factor);
}

void GradScaler::create_state(Device device) {
  if (scale_.defined()) return;
  Tensor scale = new_scalar(options_.init_scale, DType::float32, device);
  growth_tracker_ = new_scalar(static_cast<double>(first_growth_tracker_), DType::int32, device);
  scale_ = std::move(scale);
}

Tensor GradScaler::scale(const Tensor& loss) {
  if (!options_.enabled) return loss;
  create_state(loss.device());
  return ops::mul(loss, ops::to_device(scale_, loss.device()));
}

// In double, as the reciprocal of a power of two must be exact.
Tensor GradScaler::inverse_scale() const {
  Tensor exact = ops::to_dtype(scale_, DType::float64);
  const Tensor inverse = ops::reciprocal(exact);
  exact = Tensor();
  return ops::to_dtype(inverse, DType::float32);
}

namespace {

// A kernel sets `found` where the gradient is not finite.
bool is_checked_on_cuda(const Tensor& grad, const Tensor& found) {
  constexpr std::int64_t kLine = 4096;
  if (!grad.is_dense()) return false;
  const std::int64_t rows = (grad.numel() + kLine - 1) / kLine;
  return are_rows_done_on_cuda(functors::NonFinite{grad.numel()}, grad.dtype(), {rows, kLine},
                               {{found}, {grad}});
}

}  // namespace

void GradScaler::multiply(const std::vector<Tensor>& grads, const Tensor& factor,
                          const Tensor& found) {
  bool is_finite = true;
  for (const Tensor& grad : grads) {
    grad.bump_version();
    if (is_checked_on_cuda(grad, found)) {
      map_floating(grad, grad.dtype(), functors::Product(), grad, factor);
      continue;
    }
    map_floating(
        grad, grad.dtype(),
        [&](auto g, auto inverse_factor) {
          is_finite = is_finite && std::isfinite(g);
          return g * inverse_factor;
        },
        grad, factor);
  }
  if (!is_finite) fill_values(found, 1.0);
}

std::vector<GradScaler::GradientsOfDevice> GradScaler::gradients_by_device(
    const optim::Optimizer& optimizer) {
  std::vector<GradientsOfDevice> devices;
  for (const Tensor& parameter : optimizer.parameters()) {
    const Tensor grad = parameter.grad();
    if (!grad.defined()) continue;
    const auto same = std::find_if(devices.begin(), devices.end(), [&](const auto& entry) {
      return entry.device == grad.device();
    });
    if (same == devices.end()) {
      devices.push_back({grad.device(), {grad}});
    } else {
      same->grads.push_back(grad);
    }
  }
  return devices;
}

// Every device works with copies; all of them are made before the first gradient changes: without
// memory none does.
std::vector<Tensor> GradScaler::check_and_multiply(const std::vector<GradientsOfDevice>& devices,
                                                   Tensor factor, Tensor found) {
  std::vector<Tensor> flags;
  std::vector<Tensor> factors;
  try {
    for (const GradientsOfDevice& each : devices) {
      flags.push_back(copied_to(each.device, found));
      factors.push_back(copied_to(each.device, factor));
    }
  } catch (...) {
    hold_variables(factors);
    hold_variables(flags);
    hold_variables({factor, found});
    throw;
  }
  for (std::size_t i = 0; i < devices.size(); ++i) multiply(devices[i].grads, factors[i], flags[i]);
  factors.clear();
  factor = Tensor();
  found = Tensor();
  return flags;
}

void GradScaler::unscale(optim::Optimizer& optimizer) {
  if (!options_.enabled) return;
  if (!scale_.defined()) {
    throw std::invalid_argument("[GradScaler] unscale needs a scaled loss first: call scale()");
  }
  OptimizerState& state = state_of(optimizer);
  if (state.stage == Stage::unscaled) {
    throw std::invalid_argument(
        "[GradScaler] unscale_() has already been called on this optimizer since the last "
        "update()");
  }
  if (state.stage == Stage::stepped) {
    throw std::invalid_argument("[GradScaler] unscale_() is being called after step()");
  }
  const NoGradGuard no_grad;
  const std::vector<GradientsOfDevice> devices = gradients_by_device(optimizer);
  for (const GradientsOfDevice& each : devices) {
    if (std::any_of(each.grads.begin(), each.grads.end(), is_float16)) {
      throw std::invalid_argument("[GradScaler] Attempting to unscale FP16 gradients.");
    }
  }
  Tensor inverse = inverse_scale();
  Tensor found = new_scalar(0.0, DType::float32, scale_.device());
  state.found_inf = check_and_multiply(devices, std::move(inverse), std::move(found));
  state.stage = Stage::unscaled;
}

GradScaler::OptimizerState& GradScaler::state_of(const optim::Optimizer& optimizer) {
  const auto found = std::find_if(optimizers_.begin(), optimizers_.end(),
                                  [&](const auto& entry) { return entry.optimizer == &optimizer; });
  return found == optimizers_.end()
             ? optimizers_.emplace_back(OptimizerState{&optimizer, Stage::ready, {}})
             : *found;
}

GradScaler::FusedArguments& GradScaler::arguments_of(const optim::Optimizer& optimizer) {
  const auto found = std::find_if(arguments_.begin(), arguments_.end(),
                                  [&](const auto& entry) { return entry.optimizer == &optimizer; });
  return found == arguments_.end() ? arguments_.emplace_back(FusedArguments{&optimizer, {}, {}})
                                   : *found;
}

bool GradScaler::has_found_inf(const OptimizerState& state) const {
  return std::any_of(state.found_inf.begin(), state.found_inf.end(),
                     [](const Tensor& found) { return read(found) != 0.0; });
}

bool GradScaler::step(optim::Optimizer& optimizer) {
  if (!options_.enabled) {
    optimizer.step();
    return true;
  }
  OptimizerState& state = state_of(optimizer);
  if (state.stage == Stage::stepped) {
    throw std::invalid_argument(
        "[GradScaler] step() has already been called since the last update()");
  }
  if (state.stage == Stage::ready) {
    if (optimizer.is_fused()) {
      check_gradients(optimizer, state);
    } else {
      unscale(optimizer);
    }
  }
  if (state.found_inf.empty()) {
    throw std::invalid_argument(
        "[GradScaler] no inf checks were recorded for this optimizer: no "
        "parameter of it has a gradient");
  }
  const bool is_taken = !has_found_inf(state);
  if (optimizer.is_fused()) {
    step_fused(optimizer, state);
  } else if (is_taken) {
    optimizer.step();
  }
  if (!is_taken) ++skipped_steps_;
  state.stage = Stage::stepped;
  return is_taken;
}

// They are only looked at: the fused step divides them.
void GradScaler::check_gradients(const optim::Optimizer& optimizer, OptimizerState& state) const {
  const NoGradGuard no_grad;
  Tensor one = new_scalar(1.0, DType::float32, scale_.device());
  Tensor found = new_scalar(0.0, DType::float32, scale_.device());
  state.found_inf =
      check_and_multiply(gradients_by_device(optimizer), std::move(one), std::move(found));
}

// A fused step takes the scale and what was found to the device.
void GradScaler::step_fused(optim::Optimizer& optimizer, OptimizerState& state) {
  Tensor found = on_scale_device(state);
  FusedArguments& arguments = arguments_of(optimizer);
  const bool is_unscaled = state.stage == Stage::unscaled;
  if (!is_unscaled) arguments.scale = copied_to(scale_.device(), scale_);
  arguments.found_inf = std::move(found);
  if (!has_found_inf(state)) divide_and_step(optimizer, is_unscaled);
  arguments_.erase(arguments_.begin() + (&arguments - arguments_.data()));
}

// Gradients of a step that fails are as they were.
void GradScaler::divide_and_step(optim::Optimizer& optimizer, bool is_unscaled) const {
  const double scale = scale_.has_values() && !is_unscaled ? scale_.item() : 1.0;
  const auto multiply_by = [&](double factor) {
    if (factor == 1.0) return;
    for (const GradientsOfDevice& each : gradients_by_device(optimizer)) {
      for (const Tensor& grad : each.grads) {
        map_floating(grad, grad.dtype(), functors::Scaled{factor}, grad);
      }
    }
  };
  multiply_by(1.0 / scale);
  try {
    optimizer.step();
  } catch (...) {
    multiply_by(scale);
    throw;
  }
}

// What was found on all devices, summed up where the scale is.
Tensor GradScaler::on_scale_device(const OptimizerState& state) const {
  std::vector<Tensor> moved;
  for (const Tensor& found : state.found_inf) moved.push_back(transfer(found, scale_.device()));
  Tensor sum;
  for (const Tensor& found : moved) {
    sum = sum.defined() ? ops::add(sum, found) : copied_to(scale_.device(), found);
  }
  return sum;
}

void GradScaler::update() {
  if (!options_.enabled) return;
  if (std::all_of(optimizers_.begin(), optimizers_.end(),
                  [](const OptimizerState& state) { return state.found_inf.empty(); })) {
    throw std::invalid_argument("[GradScaler] no inf checks were recorded prior to update()");
  }
  const bool found = std::any_of(optimizers_.begin(), optimizers_.end(),
                                 [&](const OptimizerState& state) { return has_found_inf(state); });
  // Alive to the end of the update, as in PyTorch, where a kernel adds them up.
  std::vector<Tensor> found_on_scale_device;
  for (const OptimizerState& state : optimizers_) {
    for (const Tensor& each : state.found_inf) {
      found_on_scale_device.push_back(transfer(each, scale_.device()));
    }
  }
  if (scale_.has_values()) {
    const auto good_steps = static_cast<std::int64_t>(growth_tracker_.item()) + 1;
    if (found) {
      fill_values(scale_, scale_.item() * options_.backoff_factor);
      fill_values(growth_tracker_, 0.0);
    } else if (good_steps == options_.growth_interval) {
      fill_values(scale_, scale_.item() * options_.growth_factor);
      fill_values(growth_tracker_, 0.0);
    } else {
      fill_values(growth_tracker_, static_cast<double>(good_steps));
    }
  }
  optimizers_.clear();
}

double GradScaler::get_scale() const {
  if (!options_.enabled) return 1.0;
  return scale_.defined() ? scale_.item() : options_.init_scale;
}

GradScalerState GradScaler::state() const {
  const bool has_count = growth_tracker_.defined() && growth_tracker_.has_values();
  const double count = has_count ? growth_tracker_.item() : 0.0;
  return {get_scale(), options_.growth_factor, options_.backoff_factor, options_.growth_interval,
          growth_tracker_.defined() ? static_cast<std::int64_t>(count) : first_growth_tracker_};
}

void GradScaler::load_state(const GradScalerState& state) {
  require_factors(state.growth_factor, state.backoff_factor);
  options_.init_scale = state.scale;
  options_.growth_factor = state.growth_factor;
  options_.backoff_factor = state.backoff_factor;
  options_.growth_interval = state.growth_interval;
  first_growth_tracker_ = state.growth_tracker;
  if (!scale_.defined()) return;
  fill_values(scale_, state.scale);
  fill_values(growth_tracker_, static_cast<double>(state.growth_tracker));
}

}  // namespace ohm::amp
