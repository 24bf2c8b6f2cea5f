// A copy of CUDA's runtime in a program, as nvcc links it by default.
#pragma once

#include <string>

namespace ohm::engine {

/// Throws std::invalid_argument where the program has one that cannot be redirected to virtual
/// GPUs, since its symbols are stripped. What cannot be read has none.
void check_linked_runtime(const std::string& path);

}  // namespace ohm::engine
