// The program that a command line names: where its file is, and whether a library can be preloaded
// into it.
#pragma once

#include <string>

namespace ohm::engine {

/// The file that execvp would start, in `search_path` (as $PATH) where the name has no slash.
/// Throws std::invalid_argument: not found, or nothing that may be executed.
std::string find_program(const std::string& name, const std::string& search_path);

/// Throws std::invalid_argument that says why the dynamic loader will not preload anything into the
/// program: it is static, gains privileges when it starts, or is for another processor. Of a script
/// that is what its interpreter is.
void check_preloadable(const std::string& path);

}  // namespace ohm::engine
