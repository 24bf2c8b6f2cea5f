// The folder of modules that the Python programs of a command import when they start.
#pragma once

#include <string>

#include "harness/exec/child_command.h"

namespace ohm::engine {

/// A file of that folder. Throws GpuUnavailable.
std::string python_start_file(const std::string& name);

/// Puts the folder in front of the PYTHONPATH that the command would have, once. Throws
/// GpuUnavailable.
void add_python_start(ChildCommand& command);

}  // namespace ohm::engine
