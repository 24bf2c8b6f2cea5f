// A run of a variant of which nothing is measured: its steps are marked, its files are not written.
#pragma once

#include <cstdint>
#include <string>

#include "harness/machine/machine.h"
#include "harness/machine/snapshot_file.h"
#include "harness/scenario/scenario_program.h"

namespace ohm::engine {

/// The machine outlives it.
class UnmeasuredRun final : public RunContext {
 public:
  explicit UnmeasuredRun(Machine& machine) : machine_(machine) {}

  void mark_step() override { machine_.begin_step(++step_); }
  void dump_snapshot(const std::string& path) override {
    check_script_snapshot_path(path);
    machine_.record_snapshot();
  }
  Machine& machine() override { return machine_; }

 private:
  Machine& machine_;
  std::int64_t step_ = 1;
};

}  // namespace ohm::engine
