// Overwrites: the handles that a Lua function is about to let go of.
#pragma once

#include <lua.hpp>

#include <optional>
#include <span>
#include <vector>

#include "harness/lua/vm/raw_values.h"

namespace ohm::lua {

/// Note [The order of overwrites]
/// `h = nil; t.x = f(y); s = {}` lets go of three values; none of it is noticed before the next
/// native is called, which finds all of them dead. Python has let them go one after the other. So
/// where a call ends, the instructions of its caller up to the next call or jump are read ahead:
/// they name the variables, fields and elements that they overwrite, whose values are there still.
/// `a, b = x, y` overwrites from left to right in Python, from right to left in Lua; a list lets
/// its elements go from the last to the first.
struct Overwrites {
  std::vector<const void*> handles;  ///< full userdata, in the order in which they go
  /// Of `x = f(y)[1]`, what x holds: it goes when the other elements of the result have gone. Null
  /// where there is none.
  const void* after_elements = nullptr;
};

/// Of the function that `frame` is one of, from the instruction behind the one that it executes on:
/// a call or an operator, whose `results` are not in its registers yet.
Overwrites coming_overwrites(lua_State* L, const lua_Debug& frame,
                             std::span<const RawValue> results);

/// How many results of the call that the frame executes the script takes, `x = f(y)`; nothing where
/// it takes all.
std::optional<int> wanted_results(const lua_Debug& frame);

}  // namespace ohm::lua
