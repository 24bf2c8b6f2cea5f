#include "tests/harness/sensitivity/source_mutants.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "harness/judge/judge.h"
#include "harness/judge/scenario_validation.h"
#include "tests/harness/sensitivity/limit_mutants.h"
#include "tests/harness/sensitivity/line_mutants.h"
#include "tests/harness/sensitivity/variant_mutants.h"

namespace ohm::test {

namespace {

void name_apart(std::vector<SourceMutant>& mutants) {
  std::map<std::pair<std::string, std::string>, int> seen;
  for (SourceMutant& mutant : mutants) {
    const int count = ++seen[{mutant.kind, mutant.where}];
    if (count > 1) mutant.where += fmt::format(" ({})", count);
  }
}

}  // namespace

std::vector<std::string> judged_by(const engine::ScenarioDescription& scenario,
                                   const std::string& variant) {
  const bool is_problem = engine::find_variant(scenario, variant)->role == Role::problem;
  std::vector<std::string> names;
  for (const engine::VariantDescription& other : scenario.variants) {
    if (other.role == Role::reference) continue;
    const std::vector<std::string> needed = engine::needed_by(scenario, other);
    // One of the problems has to break each limit, and each may be the one.
    if (other.name == variant || other.of == variant ||
        (is_problem && other.role == Role::problem) ||
        std::find(needed.begin(), needed.end(), variant) != needed.end()) {
      names.push_back(other.name);
    }
  }
  return names;
}

std::vector<SourceMutant> source_mutants(std::string_view source,
                                         const engine::ScenarioDescription& scenario) {
  std::vector<SourceMutant> mutants = line_mutants(source);
  for (auto more : {variant_mutants(source, scenario), limit_mutants(source, scenario)}) {
    for (SourceMutant& mutant : more) mutants.push_back(std::move(mutant));
  }
  name_apart(mutants);
  return mutants;
}

}  // namespace ohm::test
