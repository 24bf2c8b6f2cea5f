// The fingerprint of the running build of ohm.
#pragma once

#include <string>

namespace ohm::engine {

/// The version, and a hash of the linker's build ID, which reading the program's file of 35 MB does
/// not have to be waited for: "0.1.0 3f9c22d15051eae5". Without a build ID of the file: throws
/// std::runtime_error when that cannot be read.
std::string program_fingerprint();

}  // namespace ohm::engine
