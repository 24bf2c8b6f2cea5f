// Sweeps of Python programs. PyTorch is stood in for by tests/harness/support/stand_in_torch, of
// which each tensor is a segment of the virtual GPU.
#pragma once

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/harness/program/program_test.h"
#include "tests/harness/program/torch_script.h"

namespace ohm::test {

class ProgramSweepTest : public ProgramTest {
 protected:
  ProgramSweepTest() {
    ::setenv("PYTHONDONTWRITEBYTECODE", "1", 1);  // nothing into the tree of the sources
  }

  /// Two lines find the stand-in; the program's first is the third.
  void write(const std::string& body) { folder_.write("train.py", torch_script(body)); }
  ProgramResult sweep(std::vector<std::string> options = {}) {
    options.insert(options.begin(), {"sweep", "--gpu", "tiny-64m", "--level", "segment"});
    options.insert(options.end(), {"--", "python3", "train.py"});
    return ohm(options);
  }
  /// Of the only variant.
  nlohmann::json swept(std::vector<std::string> options = {}) {
    options.emplace_back("--json");
    return nlohmann::json::parse(sweep(options).out)["scenarios"].at(0)["variants"].at(0);
  }
  /// How many faults got which verdict, without those that none got.
  static nlohmann::json verdicts(const nlohmann::json& variant) {
    nlohmann::json found = nlohmann::json::object();
    for (const auto& [verdict, count] : variant["verdicts"].items()) {
      if (count != 0) found[verdict] = count;
    }
    return found;
  }
};

/// State is made in two pieces, and taken for whole when it is there.
inline constexpr const char* kHalfMadeState = R"(
state = {}
def step():
    if not state:
        state["step"] = 0
        state["exp_avg"] = torch.empty(8)
        state["exp_avg_sq"] = torch.empty(8)
    state["exp_avg"], state["exp_avg_sq"]
try:
    step()
except torch.cuda.OutOfMemoryError:
    pass
step()
)";

}  // namespace ohm::test
