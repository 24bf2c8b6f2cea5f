// Mutants of a scenario's source: each is a scenario that does not prove what it says any more.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/scenario/scenario.h"

namespace ohm::test {

struct SourceMutant {
  std::string kind;   ///< "removed step"
  std::string where;  ///< the variant, the limit or the line, without its number
  std::string source;
};

/// All mutants of a scenario whose source and description are these, in the order of the kinds:
///
///   removed step      a line that is a call of step() or backward() is left out
///   constant result   a line `return {...}` in a function returns {loss = 0}
///   constant results  all such lines of the file do
///   no result         a line `return {...}` in a function returns nothing
///   does nothing      a variant is an empty function
///   one huge request  a problem, a partial or a non-fix is one request of 4 TiB
///   coarse result     a mitigation or a partial rounds what it returns to bfloat16
///   limit times 10    a limit of the scenario or of a problem allows 10 times as much
///   limit plus 512    one of bytes allows 512 bytes more
std::vector<SourceMutant> source_mutants(std::string_view source,
                                         const engine::ScenarioDescription& scenario);

}  // namespace ohm::test
