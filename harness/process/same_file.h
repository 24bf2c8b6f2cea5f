// Two paths of one file.
#pragma once

#include <string>

namespace ohm::engine {

/// Whether both lead to the same file, by links of any kind: one that is there, or that will be.
bool is_same_file(const std::string& a, const std::string& b);

}  // namespace ohm::engine
