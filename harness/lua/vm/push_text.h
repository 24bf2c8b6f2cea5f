// Text of C++ on Lua's stack.
#pragma once

#include <lua.hpp>
#include <string_view>

namespace ohm::lua {

/// Pushes a copy as a string; zeros in it are kept.
inline void push_text(lua_State* L, std::string_view text) {
  lua_pushlstring(L, text.data(), text.size());
}

}  // namespace ohm::lua
