// Digests of returned values: a few figures each, which a baseline keeps.
#pragma once

#include <string>
#include <vector>

#include "harness/scenario/returned_value.h"
#include "reports/model/value_result.h"

namespace ohm::engine {

std::vector<ValueResult> digests_of(const ReturnedValues& values);

/// What is not the same, in a few words; empty: nothing. Figures of floating point differ when they
/// are further apart than the tolerance of the dtype allows for the norm: another processor rounds
/// otherwise.
std::string digest_difference(const ValueResult& before, const ValueResult& after);

}  // namespace ohm::engine
