// A command of which every process that uses CUDA writes a memory snapshot, on whatever GPU it
// finds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/exec/child_command.h"

namespace ohm::engine {

struct JobRecording {
  std::string file;               ///< of the snapshot; ranks make their names of it
  std::uint64_t most_events = 0;  ///< that are kept of each process, the last ones
  std::uint64_t steps = 0;        ///< after so many it ends; 0: it does not
  bool has_all_steps = false;     ///< those that are alike, too
  bool has_stacks = true;         ///< Python's, of each request
  bool names_modules = false;     ///< those that run, on the stacks
  std::string names;  ///< a folder that names of files are taken in, each by an empty one
};

/// The command that `words` are, made to record. Throws std::invalid_argument where it is not
/// found, or is a Python that would not look at its environment; GpuUnavailable where what it is
/// given is missing.
ChildCommand recorded_command(const std::vector<std::string>& words, const JobRecording& recording);

/// Why nothing could be recorded of the command, as far as its Python says without running it: no
/// PyTorch, or one without CUDA. Empty: nothing is known against it, of what is neither Python
/// nor a script of Python's, say. `folder` is for files.
std::string lack_of_torch(const CommandRunner& runner, const ChildCommand& command,
                          const std::string& folder);

}  // namespace ohm::engine
