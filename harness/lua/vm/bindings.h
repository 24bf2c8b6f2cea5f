// Bindings: what the interpreter is given by the code that makes Lua values of C++ objects.
//
// The interpreter knows Lua and nothing of tensors; where it needs more, it calls what is here. The
// same table carries the methods of classes to which several libraries contribute, so that a class
// does not have to include them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <lua.hpp>
#include <set>
#include <span>
#include <vector>

#include "allocator_shim/observe/out_of_memory.h"

namespace ohm::lua {

/// A class of handles: full userdata that own a C++ value.
struct HandleClass {
  const char* name;                       ///< as messages say it: "tensor"
  std::span<const luaL_Reg> metamethods;  ///< empty where a ClassBinding has them
  bool is_listed = false;                 ///< the interpreter knows all of its handles
};

/// What every handle begins with.
struct HandleHead {
  static constexpr std::uint64_t kEnded = 0;
  static constexpr std::uint64_t kYoungest = UINT64_MAX;

  const HandleClass* kind;
  std::uint64_t age;          ///< counts handles as they are made; kEnded once it has ended
  std::uint64_t place = age;  ///< in a dictionary: that of what had its key before
};

struct ClassBinding {
  const HandleClass* kind;
  std::span<const luaL_Reg> metamethods;
  std::vector<luaL_Reg> methods;  ///< in byte order of their names
};

struct Bindings {
  /// Gives the globals of a new state their metatable. `seed` is of math.random.
  void (*open_globals)(lua_State* L, std::uint64_t seed);
  void (*push_out_of_memory)(lua_State* L, const OutOfMemory& error);
  /// The error at `index`; nullptr when something else is there.
  const OutOfMemory* (*test_out_of_memory)(lua_State* L, int index);
  /// Keeps the objects of cycles among the handles that the last collection found, in the order of
  /// their finalizers, and returns what is kept: addresses of handles, tables and functions.
  std::set<const void*> (*settle_dying_objects)(lua_State* L, std::span<const void* const> found);
  std::vector<ClassBinding> classes;

  /// nullptr for a class that has its metamethods itself.
  const ClassBinding* find_class(const HandleClass& kind) const {
    const auto found =
        std::find_if(classes.begin(), classes.end(),
                     [&kind](const ClassBinding& known) { return known.kind == &kind; });
    return found == classes.end() ? nullptr : &*found;
  }
};

}  // namespace ohm::lua
