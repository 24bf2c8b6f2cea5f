// The progress line of a run whose results are printed when all are there.
#pragma once

#include <cstddef>

#include "harness/cli/progress_line.h"
#include "harness/run/runner.h"

namespace ohm::cli {

class RunProgress final : public engine::RunObserver {
 public:
  explicit RunProgress(bool is_shown) : line_(is_shown) {}

  void on_progress(std::size_t finished, std::size_t total) override {
    line_.show(finished, total);
  }
  void on_scenario(const ScenarioResult& /*scenario*/) override {}
  /// Before anything else is printed.
  void erase() { line_.erase(); }

 private:
  ProgressLine line_;
};

}  // namespace ohm::cli
