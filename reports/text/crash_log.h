// The facts about memory in the log of a crash: whose message, its figures, the line of the
// program.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/text/memory_summary.h"
#include "reports/text/oom_message_parser.h"
#include "reports/text/traceback_frames.h"

namespace ohm::reports {

struct CrashLog {
  std::string source;                    ///< "PyTorch", "TensorFlow", …
  std::optional<OomMessage> message;     ///< of PyTorch, with its figures
  std::optional<PrintedBytes> request;   ///< of the others, where it is said
  std::optional<MemorySummary> summary;  ///< of torch.cuda.memory_summary(), without a message
  std::string what;                      ///< of the others: one sentence
  std::string fix;                       ///< of the others: what to do
  bool is_certain = true;                ///< that memory ran out; a signal alone does not tell
  std::optional<LogPlace> place;         ///< the innermost line of the user's own
  std::optional<LogPlace> library;       ///< the innermost of all, where it is another
  std::vector<int> gpus;                 ///< that messages of this kind name, ascending
  std::size_t messages = 0;              ///< of PyTorch's, in all of the log
  bool uses_no_grad = false;             ///< the failing call runs without gradients
  bool runs_backward = false;            ///< the failing call is of a training step
  std::string own_remedy;                ///< of the framework that runs on PyTorch; empty: none
};

/// The first message that is known; one of PyTorch's with figures comes before others. Lines that
/// were wrapped, coloured, prefixed or put into JSON are read all the same. nullopt: there is none.
std::optional<CrashLog> parse_crash_log(std::string_view text);

/// Whose messages are known: "PyTorch, TensorFlow, …".
std::string known_sources();

}  // namespace ohm::reports
