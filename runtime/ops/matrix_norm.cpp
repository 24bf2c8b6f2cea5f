#include "runtime/ops/matrix_norm.h"

#include <fmt/core.h>

#include <cmath>
#include <stdexcept>
#include <utility>

#include "runtime/ops/norm.h"
#include "runtime/ops/op_front.h"
#include "runtime/ops/product.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kMatrixNorm{"matrix_norm"};

bool is_frobenius(const NormOrder& order) {
  const std::string* const word = std::get_if<std::string>(&order);
  return word != nullptr && *word == "fro";
}

double sums_order(const NormOrder& order) {
  const double* const number = std::get_if<double>(&order);
  const double size = number == nullptr ? 0.0 : std::abs(*number);
  if (size == 1.0 || std::isinf(size)) return *number;
  throw std::invalid_argument(
      "[matrix_norm] ord must be \"fro\", 1, -1, infinity or -infinity: there are no singular "
      "values");
}

}  // namespace

Tensor matrix_norm(const Tensor& input, const NormOrder& order, const Shape& dim, bool keepdim,
                   std::optional<DType> dtype) {
  const OpFront front(kMatrixNorm);
  if (input.dims() < 2 || dim.dims() != 2) {
    throw std::invalid_argument(fmt::format(
        "[matrix_norm] expected two dimensions of a tensor of two or more, got {} of {}", dim.str(),
        input.shape().str()));
  }
  if (is_frobenius(order)) return norm(input, 2.0, dim, keepdim, dtype);
  const double number = sums_order(order);
  int summed = wrap_dim(dim[0], input.dims(), kMatrixNorm.name.data());
  int compared = wrap_dim(dim[1], input.dims(), kMatrixNorm.name.data());
  if (summed == compared) throw std::invalid_argument("[matrix_norm] dims must be different");
  if (std::isinf(number)) std::swap(summed, compared);
  if (compared > summed && !keepdim) --compared;
  const Tensor sums = norm(input, 1.0, Shape{summed}, keepdim, dtype);
  return number > 0.0 ? amax(sums, Shape{compared}, keepdim) : amin(sums, Shape{compared}, keepdim);
}

Tensor vector_or_matrix_norm(const Tensor& input, const std::optional<NormOrder>& order,
                             const std::optional<Shape>& dim, bool keepdim,
                             std::optional<DType> dtype) {
  if (!order) return norm(input, 2.0, dim, keepdim, dtype);
  const bool is_of_matrix = dim ? dim->dims() == 2 : input.dims() == 2;
  if (is_of_matrix) return matrix_norm(input, *order, dim.value_or(Shape{-2, -1}), keepdim, dtype);
  const double* const number = std::get_if<double>(&*order);
  if (number == nullptr || (!dim && input.dims() != 1)) {
    throw std::invalid_argument(fmt::format(
        "[norm] an order of a tensor of shape {} needs one dimension for a number, or two",
        input.shape().str()));
  }
  return norm(input, *number, dim, keepdim, dtype);
}

}  // namespace ohm::ops
