// The scenarios of tests/golden/sweep, and which of their variants get bad verdicts.
#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "tests/support/golden.h"

namespace ohm::test {

inline std::string corpus(const std::string& name) { return golden_path("sweep/" + name + ".lua"); }

/// Of a variant of a report in JSON.
inline std::set<std::string> bad_verdicts(const nlohmann::json& variant) {
  std::set<std::string> verdicts;
  for (const auto& [name, count] : variant["verdicts"].items()) {
    if (count != 0 && name != "clean_error" && name != "recovered_same") verdicts.insert(name);
  }
  return verdicts;
}

}  // namespace ohm::test
