// The fingerprint of the running build of ohm.
#pragma once

#include <string>

namespace ohm::engine {

/// The version, and a hash of the program's file: "0.1.0 3f9c22d15051eae5". Throws
/// std::runtime_error when that cannot be read.
std::string program_fingerprint();

}  // namespace ohm::engine
