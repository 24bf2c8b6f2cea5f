// The comparison of what two variants computed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/judge/measured_variant.h"

namespace ohm::engine {

/// Two elements agree when they differ by no more than absolute + relative × the largest magnitude
/// in the reference's value. The largest, not the element's own: an element near zero carries the
/// rounding of what was summed to get there.
struct Tolerance {
  double relative = 0;
  double absolute = 0;
};

/// Of a dtype in PyTorch's spelling; integers, booleans and strings have none (0, 0). Throws
/// std::invalid_argument that suggests the nearest dtype.
Tolerance tolerance_of(std::string_view dtype);

struct Comparison {
  Equivalence state = Equivalence::not_checked;
  std::string difference;  ///< the first value that differs, and by how much; or why not checked
};

/// Compares everything that either returned, by name. `compare_as` names the dtype whose tolerance
/// counts instead of the coarser one of the two values; empty: none. Equal infinities agree, NaN
/// agrees with nothing, since a wrong result must not prove another one right.
Comparison compare_values(const ReturnedValues& values, const ReturnedValues& reference,
                          std::string_view compare_as);

/// Compares what `must_agree` names: returned values, or one of agreement_names(). The state is
/// `trade` when all of them agree.
Comparison compare_trade(const MeasuredVariant& variant, const MeasuredVariant& reference,
                         const std::vector<std::string>& must_agree, std::string_view compare_as);

/// What `must_agree` may name besides returned values: "finite", "shapes", "steps".
std::vector<std::string> agreement_names();

/// The largest error of any value relative to the largest magnitude in that value of the
/// reference. Infinite where shapes differ, a value is missing, or one side is not finite and the
/// other is. NaN when nothing can be compared (size-only devices, nothing returned).
double largest_relative_error(const ReturnedValues& values, const ReturnedValues& reference);

}  // namespace ohm::engine
