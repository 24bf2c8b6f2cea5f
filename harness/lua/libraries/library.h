// A library: a table of functions that scripts see, `ohm`, `ohm.nn`, `ohm.cuda`, …
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

}  // namespace ohm::lua
