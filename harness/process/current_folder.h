// The folder that this program is in.
#pragma once

#include <string>

namespace ohm::engine {

/// Throws std::invalid_argument where there is none any more.
std::string current_folder();

}  // namespace ohm::engine
