// How a program ended in which a request for host memory failed: from what libohm_host.so and the
// system tell to what is judged.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "allocator_shim/interpose/host/host_settings.h"
#include "harness/exec/host_record.h"
#include "harness/sweep/command/failing_memory.h"

namespace ohm::engine {

/// What is known of the call stacks of a program, by their numbers.
struct HostSites {
  std::map<std::uint64_t, std::string> functions;     ///< that they are shown by
  std::map<std::uint64_t, std::string> interpreters;  ///< of those that are Python's own
  bool are_judged_by_memory = true;  ///< false: of an interpreter, which leaves its memory as it is
};

/// Python, where the call stack is of its own request, as "python3.11"; empty: it is of a program
/// or a module that does not come with Python.
std::string python_of(const HostSite& site);
/// Whether it has a function of an interpreter's, which hides pointers and frees little at its end.
bool is_of_interpreter(const HostSite& site);

/// How a run or a copy in which a request failed came to its end.
struct HostEnd {
  int status = 0;
  int signal = 0;
  bool is_overdue = false;
  bool has_same_output = false;
  std::string message;  ///< what it wrote to stderr beyond the run without faults
};

/// Of a copy.
HostEnd end_of(const interpose::host::SweptFault& fault);

CommandOutcome outcome_of(const CountedCommand& counted, const HostEnd& end,
                          const interpose::host::SweptFault& fault, const HostSites& sites);

}  // namespace ohm::engine
