// Integers drawn over what a tensor holds.
#pragma once

#include <cstdint>
#include <string_view>

#include "runtime/tensor/tensor.h"

namespace ohm {

/// Throws std::invalid_argument in the name of `op` unless low < high and there are at most 2^32
/// integers in [low, high).
void require_few_integers(std::int64_t low, std::int64_t high, std::string_view op);

/// Uniform in [low, high), in any dtype but a complex one. Pre-condition: require_few_integers().
void fill_integers(const Tensor& tensor, std::int64_t low, std::int64_t high);

}  // namespace ohm
