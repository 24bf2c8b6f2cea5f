// The comparison of what two variants computed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/judge/measured_variant.h"
#include "harness/judge/value_comparison.h"

namespace ohm::engine {

/// Compares everything that either returned, by name, within the tolerance of the reference's
/// dtype; `compare_as` names the dtype that counts instead, empty: none. Integers, booleans and
/// strings are equal or not. Equal infinities agree, NaN agrees with nothing, since a wrong result
/// must not prove another one right.
Comparison compare_values(const ReturnedValues& values, const ReturnedValues& reference,
                          std::string_view compare_as);

/// Compares what `must_agree` names: returned values, or one of agreement_names(). The state is
/// `trade` when all of them agree.
Comparison compare_trade(const MeasuredVariant& variant, const MeasuredVariant& reference,
                         const std::vector<std::string>& must_agree, std::string_view compare_as);

/// Compares what a non-fix returned: `different` when each value that `must_differ` names differs
/// and all others agree. Otherwise `same`, with the value of which that is not so.
Comparison compare_wrong_values(const ReturnedValues& values, const ReturnedValues& reference,
                                const std::vector<std::string>& must_differ,
                                std::string_view compare_as);

/// What `must_agree` may name besides returned values.
std::vector<std::string> agreement_names();
/// Whether this shows that the work was done: a returned value does, and the number of steps; that
/// what was returned is finite or of some shape does not.
bool shows_work(std::string_view agreement);
/// Whether there is nothing to compare without values: of steps and shapes there is.
bool is_of_values(std::string_view agreement);
/// Whether it took memory, of a GPU or of the host: what takes none has done nothing.
bool takes_memory(const MeasuredVariant& variant);
bool takes_device_memory(const MeasuredVariant& variant);

/// Of names that a scenario's `field` gives to values: the first that neither returned and that is
/// no agreement, with those that it may have meant. Empty: there is none.
std::string unknown_value(std::string_view field, const std::vector<std::string>& names,
                          const ReturnedValues& values, const ReturnedValues& reference);

/// Why these values say nothing about the reference's: a name that only one of the two returned, or
/// a string beside a number. Empty: both returned the same names.
std::string missing_value(const ReturnedValues& values, const ReturnedValues& reference);

/// An error, or why there is none.
struct RelativeError {
  std::optional<double> value;
  std::string why_not;  ///< empty beside a missing value: on size-only devices nothing is computed
};

/// The largest error of any value relative to the largest magnitude in that value of the
/// reference; infinite where one side is not finite and the other is.
RelativeError largest_relative_error(const ReturnedValues& values, const ReturnedValues& reference);

}  // namespace ohm::engine
