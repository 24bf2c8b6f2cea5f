// The call stack of a script, and the hash that names a point of it.
#pragma once

#include <cstdint>
#include <lua.hpp>
#include <string>
#include <vector>

#include "allocator_shim/fault/fault_policy.h"

namespace ohm::lua {

/// The hash of the call's level, device and op and of the script's stack: names of files without
/// their folders, and lines. Equal on every run and machine.
std::uint64_t point_of(lua_State* L, const FaultCandidate& candidate);

/// "file:line" of the script's frames, the outermost first.
std::vector<std::string> stack_of(lua_State* L);

}  // namespace ohm::lua
