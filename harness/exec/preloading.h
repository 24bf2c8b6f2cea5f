// A command that starts with libraries of this project's in front of its own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/exec/child_command.h"

namespace ohm::engine {

/// A file of this project's: `installed`, seen from the program's folder; `built`, seen from a
/// folder that the program is somewhere in. Throws GpuUnavailable where it is missing, or cannot be
/// named in a variable.
std::string shipped_file(const char* built, const char* installed);

/// Where libraries stand among those that the environment preloads already.
enum class PreloadOrder : std::uint8_t {
  first,  ///< they have to be in front of every allocator
  last,   ///< they are in nobody's way: others may have to be first
};

/// The command that `words` are, with the libraries preloaded beside what the environment's own
/// LD_PRELOAD names. Throws std::invalid_argument that says why nothing can be preloaded into it,
/// or that it is not found.
ChildCommand preloaded_command(const std::vector<std::string>& words,
                               const std::vector<std::string>& libraries, PreloadOrder order);

/// Of what the environment preloads: the library whose requests nothing in front of malloc() sees,
/// in a sentence; empty: there is none.
std::string unseen_requests();

}  // namespace ohm::engine
