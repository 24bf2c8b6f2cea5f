// The files that a sweep of host memory and the library in the program share
// (allocator_shim/interpose/host/host_settings.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "allocator_shim/interpose/host/host_settings.h"
#include "harness/exec/gpu_command.h"
#include "harness/exec/record_folder.h"

namespace ohm::engine {

/// In the folder of temporary files, and gone with this.
class HostSweepFolder {
 public:
  /// Throws std::invalid_argument where it cannot be made.
  HostSweepFolder();

  const std::string& path() const { return folder_.path(); }
  std::string file(const char* name) const { return path() + "/" + name; }

  /// Before a run: what it is to do. Throws std::invalid_argument.
  void write_control(interpose::host::SweepRun run, std::uint32_t copy_milliseconds,
                     const std::vector<interpose::host::SweptFault>& faults) const;
  /// After it: what was seen, and what became of the faults.
  interpose::host::SweepControl read_control() const;
  std::vector<interpose::host::SweptFault> read_faults(std::size_t count) const;
  std::vector<interpose::host::TracedRequest> read_trace(std::size_t count) const;

 private:
  RecordFolder folder_;
};

}  // namespace ohm::engine
