// The comparison of one returned value with another.
#pragma once

#include <string>
#include <string_view>

#include "harness/scenario/returned_value.h"
#include "reports/model/vocabulary.h"

namespace ohm::engine {

struct Comparison {
  Equivalence state = Equivalence::not_checked;
  std::string difference;  ///< the first value that differs, and by how much; or why not checked
};

/// `different`, for this reason.
Comparison different(std::string difference);

/// Compares a value, `name` in messages, with the reference's, within the tolerance of the
/// reference's dtype or of `compare_as`; empty: none. A script's number stands for a tensor of one
/// element. Not checked where one of the two was not computed.
Comparison compare_value(const std::string& name, const ReturnedValue& value,
                         const ReturnedValue& reference, std::string_view compare_as);

bool is_string(const ReturnedValue& value);
bool same_shape(const ReturnedValue& a, const ReturnedValue& b);
/// Why a string and a number differ: "loss: a string instead of an integer".
std::string other_type(const std::string& name, const ReturnedValue& value,
                       const ReturnedValue& reference);
/// "[2, 3]"
std::string shape_text(const ReturnedValue& value);

/// The largest error of an element relative to the largest magnitude in the reference; infinite
/// where one side is not finite and the other is, or where the reference is all zeros and the value
/// is not. Pre-condition: both have values, of one shape.
double relative_error(const ReturnedValue& value, const ReturnedValue& reference);

}  // namespace ohm::engine
