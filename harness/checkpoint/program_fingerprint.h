// The fingerprint of the running build of ohm.
#pragma once

#include <string>

namespace ohm::engine {

/// The version, and a hash of the linker's build ID: "0.1.0 3f9c22d15051eae5". Where there is none,
/// of the program's file, which takes time: throws std::runtime_error when that cannot be read.
std::string program_fingerprint();

}  // namespace ohm::engine
