// One run of a command on virtual GPUs, for a search of what fits.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/exec/child_command.h"
#include "harness/fit/fit_forecast.h"
#include "harness/fit/fit_search.h"

namespace ohm::engine {

/// The command was ended by a signal, this program's own among them.
class CommandInterrupted : public std::runtime_error {
 public:
  explicit CommandInterrupted(int signal) : std::runtime_error("interrupted"), signal_(signal) {}
  int signal() const { return signal_; }

 private:
  int signal_;
};

struct CommandTrial {
  Probe probe;                          ///< with the value that was asked for
  std::optional<RequestList> requests;  ///< of all processes; absent: not all is known
  bool was_scarce = false;              ///< segments were given back to serve requests
  std::string program;                  ///< name of the first process
  std::int64_t workspace_bytes = 0;     ///< of the peak
  std::string torch_version;
};

/// `environment` on top of what it is started with; `gpus` as parse_gpu_selection() reads it. Its
/// output is not shown: of one that fails the last line is the reason. Throws
/// std::invalid_argument, GpuUnavailable, std::system_error, CommandInterrupted.
CommandTrial try_command(const CommandRunner& runner, const std::vector<std::string>& words,
                         const std::vector<std::pair<std::string, std::string>>& environment,
                         const std::string& gpus, std::int64_t value);

}  // namespace ohm::engine
