// Host memory, as any program asks for it: malloc and its like, and anonymous pages.
//
// libohm_host.so does the work inside of the program; the two talk by files. A request fails in a
// copy of the process that is made there, or in a run of its own: where that is asked for, and
// where a copy would not do as the process does, as it has several threads, files open for writing,
// pipes, sockets or children.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "allocator_shim/interpose/host/host_settings.h"
#include "harness/exec/child_command.h"
#include "harness/sweep/command/command_files.h"
#include "harness/sweep/command/copied_memory.h"
#include "harness/sweep/command/host_end.h"
#include "harness/sweep/command/host_sweep_folder.h"

namespace ohm::engine {

struct HostCommand {
  std::vector<std::string> words;
  SweepEngine engine = SweepEngine::fork;
  double timeout_seconds = 0;  ///< of a run without faults; 0: none
  int jobs = 1;                ///< runs of their own that are at work at a time
};

class HostMemory final : public CopiedMemory {
 public:
  explicit HostMemory(HostCommand command)
      : CopiedMemory(command.engine, command.jobs), command_(std::move(command)) {}

  CountedCommand count() override;
  std::string plan_of(const FaultTask& task) const override;
  std::string rerun_command(const std::string& plan) const override;

 private:
  struct Run {
    CommandEnd end;
    interpose::host::SweepControl control;
    double seconds = 0;
  };

  Run run(interpose::host::SweepRun kind, double timeout_seconds,
          const std::vector<interpose::host::SweptFault>& faults);
  /// Takes the files that it leaves.
  Run run_without_faults();
  /// Than without copies beside it.
  bool does_otherwise(const Run& ran, const CountedCommand& counted) const;
  Left fail_in_copies(const CountedCommand& counted, const std::vector<FaultTask>& tasks,
                      const OnEnd& on_end) override;
  std::unique_ptr<OwnRun> own_run(const CountedCommand& counted,
                                  const FaultTask& task) const override;
  void take_trace(const Run& ran, CountedCommand& counted);

  HostCommand command_;
  HostSweepFolder folder_;
  CommandFiles files_;
  HostSites sites_;
  /// Of the last trace: the hash of the stack, and which of its requests, by request.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> occurrences_;
};

}  // namespace ohm::engine
