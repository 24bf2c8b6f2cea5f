// The tables of functions that scripts see: `ohm`, `ohm.nn`, `ohm.cuda`, …
//
// A library is its row in the table in libraries.cpp. What a script does not use costs it nothing:
// a name gets into the script's table when it is first looked up, because the whole heap of the
// script is walked at every call of a native. An unknown name is an error that suggests another.
#pragma once

#include <lua.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ohm::lua {

/// A field that is read from the runtime and written to it: `ohm.backends.cudnn.enabled = false`.
struct Property {
  std::string_view name;
  void (*push)(lua_State* L);
  void (*set)(lua_State* L, int index);  ///< to the value at `index`
};

struct Library {
  std::string_view name;  ///< as the script spells it: "ohm.cuda"
  std::vector<std::span<const luaL_Reg>> functions;
  /// Pushes what is not a plain function, or pushes nothing and returns false. May be null.
  bool (*push)(lua_State* L, std::string_view name) = nullptr;
  /// The names that `push` knows. Null with it.
  std::vector<std::string> (*names)() = nullptr;
  std::span<const Property> properties = {};
};

/// All libraries; one whose name is "a.b" is the field "b" of the library "a".
std::span<const Library> libraries();

/// Pushes the table of the library of this name. Pre-condition: there is one.
void push_library(lua_State* L, std::string_view name);

/// Everything that can be looked up in a library, in byte order.
std::vector<std::string> names_of(const Library& library);

}  // namespace ohm::lua
