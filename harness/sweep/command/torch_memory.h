// Memory of virtual GPUs, as PyTorch asks for it in a Python program: requests to its caching
// allocator, or the allocator's calls of the device.
//
// harness/record/ohm_sweeper.py does the work inside of the program; the two talk by files. A fault
// is injected into a copy of the program that is made at the request, or into a run of its own:
// where that is asked for, and where a copy would not do as the program does.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "allocator_shim/fault/fault_policy.h"
#include "harness/exec/value_options.h"
#include "harness/sweep/command/copied_memory.h"

namespace ohm::engine {

struct TorchCommand {
  std::vector<std::string> words;
  std::string gpus;                        ///< for parse_gpu_selection()
  FaultLevel level = FaultLevel::request;  ///< or segment
  SweepEngine engine = SweepEngine::fork;
  int jobs = 1;                ///< copies, or runs of their own, that are at work at a time
  std::string check;           ///< an expression of Python, for __main__ at its end; empty: none
  bool in_scratch = false;     ///< each run, and each copy, in a copy of the folder
  double timeout_seconds = 0;  ///< of a run without faults; 0: none
  ValueOptions values;
};

class TorchMemory final : public CopiedMemory {
 public:
  explicit TorchMemory(TorchCommand command)
      : CopiedMemory(command.engine, command.jobs), command_(std::move(command)) {}

  CountedCommand count() override;
  std::string plan_of(const FaultTask& task) const override;
  std::string rerun_command(const std::string& plan) const override;

 private:
  Left fail_in_copies(const CountedCommand& counted, const std::vector<FaultTask>& tasks,
                      const OnEnd& on_end) override;
  std::unique_ptr<OwnRun> own_run(const CountedCommand& counted,
                                  const FaultTask& task) const override;
  bool has_own_folders() const override { return command_.in_scratch; }

  TorchCommand command_;
};

}  // namespace ohm::engine
