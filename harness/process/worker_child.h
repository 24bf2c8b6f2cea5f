// A worker's side of its process: where it writes, what it works in, and the one message it ends
// with.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

#include "harness/process/work_result.h"

namespace ohm::engine {

/// The writing ends of a worker's two pipes.
struct Outlets {
  int message = -1;
  int output = -1;
};

/// The exit codes of a worker that sent a message.
constexpr int kDone = 0;
constexpr int kFailed = 3;  ///< the message is what an exception said

/// In a fork: a group of its own (Ctrl-C is for the parent alone), no input, output into the pipe;
/// it dies with its parent.
void enter_worker(pid_t parent, int output);

/// From here on nothing that this process prints goes anywhere.
void close_output();

/// False when the reader is gone.
bool send_message(int messages, std::string_view message);

/// Ends the process with the message that the work returns, or that an exception says.
[[noreturn]] void work_and_exit(const Work& work, int messages) noexcept;

/// What was sent, of all that came out of the pipe; nullopt when a part is missing.
std::optional<std::string> whole_message(const std::string& received);

}  // namespace ohm::engine
