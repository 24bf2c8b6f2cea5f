#include "harness/lua/libraries/text_functions.h"

#include <cmath>
#include <cstdio>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>

#include "harness/lua/bind/arguments.h"

namespace ohm::lua {
namespace {

bool is_nan(lua_State* L, int index) {
  return lua_type(L, index) == LUA_TNUMBER && std::isnan(lua_tonumber(L, index));
}

/// Whether luaL_tolstring() would write its address.
bool is_anonymous_object(lua_State* L, int index) {
  const int type = lua_type(L, index);
  const bool is_object = type == LUA_TTABLE || type == LUA_TFUNCTION || type == LUA_TTHREAD ||
                         type == LUA_TUSERDATA || type == LUA_TLIGHTUSERDATA;
  if (!is_object) return false;
  if (luaL_getmetafield(L, index, "__tostring") == LUA_TNIL) return true;
  lua_pop(L, 1);
  return false;
}

/// The name that its metatable gives, or that of its type.
void push_kind(lua_State* L, int index) {
  const int found = luaL_getmetafield(L, index, "__name");
  if (found == LUA_TSTRING) return;
  if (found != LUA_TNIL) lua_pop(L, 1);
  lua_pushstring(L, luaL_typename(L, index));
}

void push_text(lua_State* L, int index) {
  if (is_anonymous_object(L, index)) {
    push_kind(L, index);
  } else if (is_nan(L, index)) {
    lua_pushliteral(L, "nan");
  } else {
    luaL_tolstring(L, index, nullptr);
  }
}

/// Whether a format holds %p: flags, width and precision stand before the letter.
bool formats_an_address(std::string_view format) {
  for (std::size_t at = format.find('%'); at != std::string_view::npos;
       at = format.find('%', at + 1)) {
    at = format.find_first_not_of("-+ #0123456789.", at + 1);
    if (at == std::string_view::npos) return false;
    if (format[at] == 'p') return true;
  }
  return false;
}

}  // namespace

int text_of_value(lua_State* L) {
  luaL_checkany(L, 1);
  push_text(L, 1);
  return 1;
}

int print(lua_State* L) {
  std::string line;
  const int count = lua_gettop(L);
  for (int i = 1; i <= count; ++i) {
    std::size_t length = 0;
    push_text(L, i);
    const char* text = lua_tolstring(L, -1, &length);
    if (i > 1) line += '\t';
    line.append(text, length);
    lua_pop(L, 1);
  }
  line += '\n';
  std::fwrite(line.data(), 1, line.size(), stderr);
  return 0;
}

int format_text(lua_State* L) {
  if (formats_an_address(string_argument(L, 1, {"string.format", "format"}))) {
    throw std::invalid_argument("[string.format] %p is an address: it differs from run to run");
  }
  const int count = lua_gettop(L);
  for (int i = 2; i <= count; ++i) {
    if (is_anonymous_object(L, i)) {
      push_kind(L, i);
    } else if (is_nan(L, i)) {
      lua_pushnumber(L, std::numeric_limits<lua_Number>::quiet_NaN());
    } else {
      continue;
    }
    lua_replace(L, i);
  }
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_call(L, count, 1);
  return 1;
}

}  // namespace ohm::lua
