// A command whose requests for host memory are recorded, limited, or made to fail.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/exec/child_command.h"

namespace ohm::engine {

struct HostOptions {
  std::optional<std::uint64_t> limit_bytes;  ///< that each process may have at a time
  std::string fault;                         ///< as interpose::host::parse_host_fault() reads it
};

/// Throws std::invalid_argument for a plan that is none for host memory.
void check_host_fault(const std::string& plan);

/// Throws as preloaded_command() and check_host_fault() do; GpuUnavailable where the library is
/// missing.
ChildCommand host_command(const std::vector<std::string>& words, const HostOptions& options);

/// Makes every process of the command record its memory to the folder.
void add_host_record(ChildCommand& command, const std::string& folder);

}  // namespace ohm::engine
