// Mutants in which a variant does, or is said to do, something else.
#pragma once

#include <string_view>
#include <vector>

#include "tests/harness/sensitivity/source_mutants.h"

namespace ohm::test {

/// In this order, of each variant but references:
///
///   does nothing       it is an empty function
///   swapped body       it does what another variant does: those of mutations_of()
///   one huge request   a problem, a partial or a non-fix is one request of 4 TiB
///   coarse result      a mitigation or a partial rounds what it returns to bfloat16
///   wrong result       it returns numbers that are 6 % too large, integers 1 too large
///   zero result        it returns zeros
///   value left out     it returns one value less
///   extra value        it returns one value more
///   coarse comparison  a mitigation or a partial is compared as bfloat16
///   agreement left out one of what it says must agree, or must differ, is not named
///   fixes otherwise    a non-fix does what a mitigation does, and doubles what it returns
///   other role         a mitigation is said to be a non-fix or a partial, a non-fix or a partial
///                      to be a mitigation, a control to be a problem
///
/// What a mitigation or a partial returns by its own choice (`trades`) is not made coarse or wrong.
std::vector<SourceMutant> variant_mutants(std::string_view source,
                                          const engine::ScenarioDescription& scenario);

}  // namespace ohm::test
