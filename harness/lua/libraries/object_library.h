// ohm.object, ohm.weakref, ohm.gc: objects that live as Python's do.
//
// Note [Cycles]
// Lua finds a cycle of objects with everything else that cannot be reached; Python counts
// references and finds it only when its collector runs. So an object that Lua has found is looked
// at before it goes: where it refers to itself, through other objects, tables and functions, it and
// all that it refers to stays as it is until ohm.gc.collect(). What handles among them held is
// given back to them. Everything else goes at once.
#pragma once

#include <lua.hpp>
#include <set>
#include <span>

namespace ohm::lua {

/// Keeps the objects of cycles among the handles that the last collection found: addresses, in the
/// order of their finalizers. Returns what is kept, with all that it refers to: addresses of
/// handles, tables and functions. Handles among them can be found by later collections again, in
/// the same order.
std::set<const void*> settle_dying_objects(lua_State* L, std::span<const void* const> found);

/// ohm.gc.collect(): lets cycles go; returns how many objects these were.
lua_Integer collect_cycles(lua_State* L);

std::span<const luaL_Reg> object_functions();
std::span<const luaL_Reg> gc_functions();

}  // namespace ohm::lua
