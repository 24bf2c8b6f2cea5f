#include "harness/sweep/alike_verdicts.h"

#include <regex>
#include <set>
#include <string>
#include <utility>

namespace ohm::engine {

namespace {

// Addresses and names of temporary files are others in each run.
std::string without_names_of_the_run(const std::string& text) {
  static const std::regex kOfTheRun("0x[0-9a-fA-F]+|/tmp/[^ :'\"]*");
  return std::regex_replace(text, kOfTheRun, "");
}

std::pair<FaultVerdict, std::string> key_of(const TrialVerdict& verdict) {
  return {verdict.verdict, without_names_of_the_run(verdict.what)};
}

}  // namespace

bool is_alike(const TrialVerdict& a, const TrialVerdict& b) { return key_of(a) == key_of(b); }

std::vector<std::size_t> first_of_alike(const std::vector<std::optional<TaskVerdict>>& faults) {
  std::set<std::pair<FaultVerdict, std::string>> seen;
  std::vector<std::size_t> first;
  for (std::size_t i = 0; i < faults.size(); ++i) {
    if (!faults[i] || is_good(faults[i]->verdict.verdict)) continue;
    if (seen.insert(key_of(faults[i]->verdict)).second) first.push_back(i);
  }
  return first;
}

}  // namespace ohm::engine
