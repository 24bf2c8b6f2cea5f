// The tolerance within which two numbers are the same, by dtype.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "harness/scenario/returned_value.h"

namespace ohm::engine {

/// Two elements agree when they differ by no more than
///
///   relative × the reference's element + rounding × the largest element of the reference's value
///
/// The second term is a few units in the last place: an element near zero carries the rounding of
/// what was summed to get there. Nothing is allowed beside a reference of zeros.
struct Tolerance {
  double relative = 0;
  double rounding = 0;
};

/// Of a dtype in PyTorch's spelling; integers, booleans and strings have none (0, 0). Throws
/// std::invalid_argument that suggests the nearest dtype.
Tolerance tolerance_of(std::string_view dtype);
/// The same of a returned value: a script's own number counts as PyTorch's default dtype.
Tolerance tolerance_of_value(std::string_view dtype);

/// The dtype that says how near a value has to be to this reference: `compare_as` where there is
/// one and the reference is not an integer, boolean or string, else the reference's own.
std::string_view deciding_dtype(const ReturnedValue& reference, std::string_view compare_as);

/// Whether a value is equal to another or not: integers, booleans, strings.
bool is_exact(const ReturnedValue& value);
/// An element of an integer or a boolean. Pre-condition: the value has it.
std::int64_t integer_at(const ReturnedValue& value, std::size_t index);

}  // namespace ohm::engine
