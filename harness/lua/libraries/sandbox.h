// The sandbox that a script starts with: an allow-list of Lua's own functions, `ohm`, and nothing
// else.
#pragma once

#include <cstdint>
#include <lua.hpp>

namespace ohm::lua {

/// Gives the globals of a new state their metatable. `seed` is of math.random.
///
/// Beside what is left out (io, os, package, debug but traceback, collectgarbage, dofile,
/// loadfile), these differ from Lua's: `load` takes text alone; `require` looks in the script's
/// folder and its lib/; `print` writes to stderr; no text holds an address (text_functions.h);
/// `pairs` and `next` go in a fixed order (numbers, then strings in byte order), because the order
/// of a hash table changes from run to run; `setmetatable` takes no finalizers; an undefined global
/// is an error.
void open_sandbox(lua_State* L, std::uint64_t seed);

}  // namespace ohm::lua
