// The call stack of a script, and the hash that names a point of it.
#pragma once

#include <cstdint>
#include <lua.hpp>
#include <string_view>
#include <vector>

#include "allocator_shim/fault/fault_policy.h"

namespace ohm::lua {

/// The hash of the call's level, device and op and of the script's stack: names of files without
/// their folders, and lines. Equal on every run and machine.
std::uint64_t point_of(lua_State* L, const FaultCandidate& candidate);

/// A line of the script that is running, and the name of its function, where Lua knows one; both
/// texts are the script's own.
struct ScriptFrame {
  std::string_view file;
  int line = 0;
  std::string_view function;
};

/// The script's frames, the outermost first.
std::vector<ScriptFrame> stack_of(lua_State* L);

}  // namespace ohm::lua
