#include "runtime/ops/pooling_powers.h"

#include <fmt/core.h>

#include <stdexcept>
#include <utility>

#include "runtime/arithmetic/factories.h"
#include "runtime/ops/activation.h"
#include "runtime/ops/arithmetic.h"
#include "runtime/ops/average_pool.h"
#include "runtime/ops/average_pool_volumes.h"
#include "runtime/ops/op_front.h"
#include "runtime/ops/pointwise_unary.h"
#include "runtime/ops/power.h"
#include "runtime/ops/sequence.h"
#include "runtime/ops/sign.h"
#include "runtime/tensor/locals_of_call.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kLpPool1d{"lp_pool1d"};
constexpr OpInfo kLpPool2d{"lp_pool2d"};
constexpr OpInfo kLpPool3d{"lp_pool3d"};

// Of one size for all of `dims` dimensions, or of one for each.
double window_elements(const OpInfo& info, const Shape& kernel_size, int dims) {
  if (kernel_size.dims() != 1 && kernel_size.dims() != dims) {
    throw std::invalid_argument(fmt::format("[{}] kernel_size has {} numbers, expected 1 or {}",
                                            info.name, kernel_size.dims(), dims));
  }
  double elements = 1;
  for (int i = 0; i < dims; ++i) {
    elements *= static_cast<double>(kernel_size[kernel_size.dims() == 1 ? 0 : i]);
  }
  return elements;
}

// (sign(mean) · relu(|mean|) · elements)^(1/p)
Tensor norms_of(Tensor means, double elements, double norm_type) {
  Tensor powers;
  {
    Tensor sums;
    {
      Tensor sizes;
      Tensor signs = sign(means);
      {
        const Tensor magnitudes = abs(means);
        sizes = relu(magnitudes);
      }
      sums = mul(signs, sizes);
      signs = Tensor();
    }
    powers = mul(sums, elements);
  }
  Tensor norms = pow(powers, 1.0 / norm_type);
  powers = Tensor();
  outlive_arguments(std::move(means));
  return norms;
}

std::vector<Sample> positive_samples(const Shape& shape, const Value& kernel_size) {
  const Tensor input = add(rand(shape, {DType::float64, Device::cpu()}), 0.5);
  return {{input, 2.0, kernel_size}, {input, 3.0, kernel_size}};
}

}  // namespace

Tensor lp_pool1d(const Tensor& input, double norm_type, std::int64_t kernel_size,
                 std::optional<std::int64_t> stride, bool ceil_mode) {
  const OpFront front(kLpPool1d);
  const Shape window{kernel_size};
  const std::optional<Shape> step = stride ? std::optional<Shape>(Shape{*stride}) : std::nullopt;
  Tensor means = avg_pool1d(pow(input, norm_type), window, step, Shape{0}, ceil_mode, true);
  return norms_of(std::move(means), window_elements(kLpPool1d, window, 1), norm_type);
}

Tensor lp_pool2d(const Tensor& input, double norm_type, const Shape& kernel_size,
                 const std::optional<Shape>& stride, bool ceil_mode) {
  const OpFront front(kLpPool2d);
  const double elements = window_elements(kLpPool2d, kernel_size, 2);
  Tensor means = avg_pool2d(pow(input, norm_type), kernel_size, stride, Shape{0}, ceil_mode, true,
                            std::nullopt);
  return norms_of(std::move(means), elements, norm_type);
}

Tensor lp_pool3d(const Tensor& input, double norm_type, const Shape& kernel_size,
                 const std::optional<Shape>& stride, bool ceil_mode) {
  const OpFront front(kLpPool3d);
  const double elements = window_elements(kLpPool3d, kernel_size, 3);
  Tensor means = avg_pool3d(pow(input, norm_type), kernel_size, stride, Shape{0}, ceil_mode, true,
                            std::nullopt);
  return norms_of(std::move(means), elements, norm_type);
}

std::vector<OpDef> power_pooling_ops() {
  const std::vector<ParamName> params = {
      "input", "norm_type", "kernel_size", "stride", {"ceil_mode", false}};
  return {
      define(kLpPool1d, kFunctional, &lp_pool1d, params,
             [] {
               return positive_samples({2, 3, 7}, std::int64_t{2});
             }),
      define(kLpPool2d, kFunctional, &lp_pool2d, params,
             [] {
               return positive_samples({1, 2, 4, 5}, Shape{2, 3});
             }),
      define(kLpPool3d, kFunctional, &lp_pool3d, params,
             [] {
               return positive_samples({1, 2, 3, 4, 2}, Shape{2});
             }),
  };
}

}  // namespace ohm::ops
