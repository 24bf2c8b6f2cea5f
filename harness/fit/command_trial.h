// One run of a command on virtual GPUs, for a search of what fits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/exec/child_command.h"
#include "harness/exec/value_options.h"
#include "harness/fit/fit_forecast.h"
#include "harness/fit/fit_search.h"
#include "reports/model/unknown_value.h"

namespace ohm::engine {

struct CommandQuestion {
  std::vector<std::string> words;
  std::vector<std::pair<std::string, std::string>> environment;  ///< on top of what it starts with
  std::string gpus;                                              ///< for parse_gpu_selection()
  double timeout_seconds = 0;                                    ///< 0: it may run for ever
  std::int64_t value = 0;                                        ///< that the answer is about
  ValueOptions values;
};

/// What its figures rest on, over all processes.
struct TrialBasis {
  std::vector<std::string> modelled;               ///< names of assumptions, each once
  std::vector<UnknownValueResult> unknown_values;  ///< of each line once

  void add(const TrialBasis& more);
};

struct CommandTrial {
  Probe probe;
  std::optional<RequestList> requests;  ///< of all processes; absent: not all is known
  bool was_scarce = false;              ///< segments were given back to serve requests
  std::string program;                  ///< name of the first process
  std::int64_t workspace_bytes = 0;     ///< of the peak
  std::string torch_version;
  TrialBasis basis;
};

/// Its output is not shown: of one that fails its cause (failure_cause.h) is the reason. Throws
/// std::invalid_argument, GpuUnavailable, CommandInterrupted.
CommandTrial try_command(const CommandRunner& runner, const CommandQuestion& question);

}  // namespace ohm::engine
