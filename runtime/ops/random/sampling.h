// Draws from distributions that tensors hold.
#pragma once

#include "runtime/ops/op.h"

namespace ohm::ops {

/// Places in the last dimension of `input`, [n] or [rows, n], each drawn with a probability
/// proportional to its element: [num_samples] or [rows, num_samples], int64. Without replacement no
/// place comes twice in a row. Throws std::invalid_argument for elements that are not weights.
Tensor multinomial(const Tensor& input, std::int64_t num_samples, bool replacement);

/// 1 with the probability that an element is, else 0.
Tensor bernoulli(const Tensor& input);

/// Normal, element by element, of a mean and a deviation of which one may be a number; two numbers
/// need a `size`, and go with a `dtype` and a `device`. Nothing of their gradients is left: they
/// are zeros. Throws std::invalid_argument for a deviation below 0.
Tensor normal(const TensorOrNumber& mean, const TensorOrNumber& std,
              const std::optional<Shape>& size = std::nullopt,
              std::optional<DType> dtype = std::nullopt,
              std::optional<Device> device = std::nullopt);

/// Takes and gives back what PyTorch sorts a random order of `count` numbers with; nothing on the
/// host.
void take_permutation_scratch(std::int64_t count, Device device);

std::vector<OpDef> sampling_ops();

}  // namespace ohm::ops
