// A command that starts with a library of this project's in front of its own.
#pragma once

#include <string>
#include <vector>

#include "harness/exec/child_command.h"

namespace ohm::engine {

/// A file of this project's: `installed`, seen from the program's folder; `built`, seen from a
/// folder that the program is somewhere in. Throws GpuUnavailable where it is missing, or cannot be
/// named in a variable.
std::string shipped_file(const char* built, const char* installed);

/// The command that `words` are, with the library preloaded. Throws std::invalid_argument that says
/// why nothing can be preloaded into it, or that it is not found.
ChildCommand preloaded_command(const std::vector<std::string>& words, const std::string& library);

}  // namespace ohm::engine
