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
  /// The variants whose verdicts it can change; empty: all.
  std::vector<std::string> variants;
};

/// The variants whose verdicts depend on what this one does.
std::vector<std::string> judged_by(const engine::ScenarioDescription& scenario,
                                   const std::string& variant);

/// All mutants of a scenario whose source and description are these, kind by kind: those of lines
/// (line_mutants.h), of variants (variant_mutants.h) and of limits (limit_mutants.h). Two mutants
/// of a kind have different places: the second of two equal lines is "the line (2)".
std::vector<SourceMutant> source_mutants(std::string_view source,
                                         const engine::ScenarioDescription& scenario);

}  // namespace ohm::test
