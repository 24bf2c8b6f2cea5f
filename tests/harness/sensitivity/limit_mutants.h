// Mutants in which a limit allows more, or less, than its scenario says.
#pragma once

#include <string_view>
#include <vector>

#include "tests/harness/sensitivity/source_mutants.h"

namespace ohm::test {

/// Of the limits of the scenario and of every variant, in this order:
///
///   limit times 10   it allows 10 times as much: what has to be small may be
///   limit plus 512   one of bytes allows 512 bytes more
///   limit minus 512  one of bytes on a scenario or a problem allows 512 bytes less
///   limit left out   it is not there
std::vector<SourceMutant> limit_mutants(std::string_view source,
                                        const engine::ScenarioDescription& scenario);

}  // namespace ohm::test
