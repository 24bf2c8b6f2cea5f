// The stack that the system allows this process.
#pragma once

#include <optional>
#include <string>

namespace ohm::engine {

/// What to say where the limit (`ulimit -s`) is too low to run scenarios: they would be killed in
/// the middle. nullopt: it is not.
std::optional<std::string> lack_of_stack();

}  // namespace ohm::engine
