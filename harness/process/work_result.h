// The end of a piece of work that ran in a process of its own, and what it sent back.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "reports/model/exit_code.h"

namespace ohm::engine {

enum class WorkEnd : std::uint8_t {
  message,      ///< the whole message arrived
  crashed,      ///< a signal, an exception, or an exit before the message was whole
  timeout,      ///< killed after `timeout_seconds`
  interrupted,  ///< this process was told to end
};

struct WorkResult {
  WorkEnd end = WorkEnd::interrupted;
  std::string message;
  std::string output;        ///< what it wrote to stdout and stderr: the first bytes
  std::string how_it_ended;  ///< of a crash: "killed by SIGSEGV (Segmentation fault)"
  double seconds = 0;        ///< wall time
};

/// Runs in the new process; what it returns is the message. An exception is told as a crash.
using Work = std::function<std::string()>;
/// Runs in the process that asked for the work.
using WorkDone = std::function<void(WorkResult)>;

/// Why a piece of work sent no message, of a sentence about it: "was killed by SIGSEGV (…)". Not
/// for one that did.
std::string why_without_message(const WorkResult& work, double timeout_seconds);

/// What the end of a piece of work means for the process: `passed` for a message.
ExitReason reason_of(WorkEnd end);

}  // namespace ohm::engine
