// Values that parameters start from, drawn in place: torch.nn.init. Nothing is allocated and no
// graph is recorded. Errors: std::invalid_argument naming the function.
#pragma once

#include <string_view>

#include "runtime/tensor/tensor.h"

namespace ohm::nn::init {

/// How many inputs an output is a sum of, and how many outputs an input goes into: of a weight
/// [out, in, kernel…].
struct Fans {
  double in = 0;
  double out = 0;
};
Fans fans_of(const Tensor& weight, std::string_view function);

/// What a nonlinearity takes from the deviation of its inputs: √2 of "relu"; `param` is the slope
/// of "leaky_relu" (0.01 of its own accord).
double gain_of(std::string_view nonlinearity, double param, std::string_view function);

/// Normal, cut off outside [low, high].
void fill_truncated_normal(const Tensor& tensor, double mean, double deviation, double low,
                           double high);

/// Rows, or columns where there are more rows, that are orthogonal and of length `gain`; a tensor
/// of more dimensions is seen as [size of the first, rest]. Of tensors of the host alone.
void fill_orthogonal(const Tensor& tensor, double gain);

}  // namespace ohm::nn::init
