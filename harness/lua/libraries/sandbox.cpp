#include "harness/lua/libraries/sandbox.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "allocator_shim/base/nearest_name.h"
#include "harness/lua/bind/arguments.h"
#include "harness/lua/bind/native.h"
#include "harness/lua/libraries/coroutine_functions.h"
#include "harness/lua/libraries/fixed_order.h"
#include "harness/lua/libraries/library_table.h"
#include "harness/lua/libraries/require.h"
#include "harness/lua/libraries/table_functions.h"
#include "harness/lua/libraries/text_functions.h"
#include "harness/lua/vm/base_functions.h"
#include "harness/lua/vm/compile.h"
#include "harness/lua/vm/interpreter.h"

namespace ohm::lua {
namespace {

// The text of load()'s first argument: a string, or what a function returns piece by piece. It
// grows as a string of the script, so that it counts against the script's memory.
std::string_view chunk_text(lua_State* L) {
  if (lua_type(L, 1) == LUA_TSTRING) return string_argument(L, 1, {"load", "chunk"});
  if (lua_type(L, 1) != LUA_TFUNCTION) refuse_argument(L, 1, {"load", "chunk"}, "a string");
  lua_pushliteral(L, "");
  for (;;) {
    lua_pushvalue(L, 1);
    lua_call(L, 0, 1);
    if (lua_isnil(L, -1) || string_argument(L, -1, {"load", "piece"}).empty()) break;
    lua_concat(L, 2);
  }
  lua_pop(L, 1);
  return string_argument(L, -1, {"load", "chunk"});
}

// load(chunk [, name [, mode [, environment]]]): text alone, whatever the mode.
int load_text(lua_State* L) {
  const bool has_environment = lua_gettop(L) >= 4;
  std::string name = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "=(load)";
  // "@path" would pass for a file of the scenario.
  if (!name.empty() && name.front() == '@') name.front() = '=';
  if (compile(L, std::string(chunk_text(L)), name) != LUA_OK) {
    lua_pushnil(L);
    lua_insert(L, -2);
    return 2;
  }
  if (has_environment) {
    lua_pushvalue(L, 4);
    lua_setupvalue(L, -2, 1);
  }
  return 1;
}

int set_metatable(lua_State* L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  luaL_argexpected(L, lua_istable(L, 2) || lua_isnoneornil(L, 2), 2, "nil or table");
  if (lua_istable(L, 2) && lua_getfield(L, 2, "__gc") != LUA_TNIL) {
    throw std::invalid_argument(
        "[setmetatable] scripts cannot have finalizers: they would run at another time on every "
        "run "
        "(use a <close> variable)");
  }
  if (luaL_getmetafield(L, 1, "__metatable") != LUA_TNIL) {
    throw std::invalid_argument("[setmetatable] cannot change a protected metatable");
  }
  lua_settop(L, 2);
  Interpreter::of(L).lifetimes().before_metatable(L, 1, 2);
  lua_setmetatable(L, 1);
  return 1;
}

// Lua's own, which tells what it writes.
int set_raw(lua_State* L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  luaL_checkany(L, 2);
  luaL_checkany(L, 3);
  lua_settop(L, 3);
  Interpreter::of(L).lifetimes().before_write(L, 1, 2);
  lua_rawset(L, 1);
  return 1;
}

constexpr luaL_Reg kOwnFunctions[] = {
    {"load", native<load_text, Entry::access>},
    {"next", native<next_in_order, Entry::access>},
    {"pairs", native<pairs_in_order, Entry::access>},
    {"print", native<print, Entry::access>},
    {"rawset", set_raw},
    {"require", native<require_module, Entry::access>},
    {"setmetatable", native<set_metatable, Entry::access>},
    {"tostring", native<text_of_value, Entry::access>},
};

// math.randomseed without arguments would take the clock.
int seed_random(lua_State* L) {
  if (lua_gettop(L) == 0) {
    throw std::invalid_argument("[math.randomseed] needs a seed: scripts have no clock");
  }
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_call(L, lua_gettop(L) - 1, 0);
  return 0;
}

int open_math(lua_State* L) {
  lua_pushcfunction(L, &luaopen_math);
  lua_call(L, 0, 1);
  lua_getfield(L, -1, "randomseed");
  lua_pushvalue(L, -1);
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_call(L, 1, 0);
  lua_pushcclosure(L, native<seed_random, Entry::access>, 1);
  lua_setfield(L, -2, "randomseed");
  return 1;
}

int open_string(lua_State* L) {
  luaopen_string(L);
  lua_pushnil(L);
  lua_setfield(L, -2, "dump");
  lua_getfield(L, -1, "format");
  lua_pushcclosure(L, native<format_text, Entry::access>, 1);
  lua_setfield(L, -2, "format");
  return 1;
}

int open_debug(lua_State* L) {
  luaopen_debug(L);
  lua_createtable(L, 0, 1);
  lua_getfield(L, -2, "traceback");
  lua_setfield(L, -2, "traceback");
  return 1;
}

int open_ohm(lua_State* L) {
  push_library(L, "ohm");
  return 1;
}

// Tables that are made when a script first names them. An opener's upvalue is the seed.
constexpr luaL_Reg kTables[] = {
    {"coroutine", open_coroutine}, {"debug", open_debug}, {"math", open_math},    {"ohm", open_ohm},
    {"string", open_string},       {"table", open_table}, {"utf8", luaopen_utf8},
};

template <std::size_t N>
const luaL_Reg* find_in(const luaL_Reg (&rows)[N], std::string_view name) {
  const luaL_Reg* row =
      std::find_if(rows, rows + N, [&](const luaL_Reg& known) { return name == known.name; });
  return row == rows + N ? nullptr : row;
}

std::vector<std::string> known_globals(lua_State* L, int globals) {
  const auto base = base_function_names();
  std::vector<std::string> names(base.begin(), base.end());
  for (const luaL_Reg& row : kOwnFunctions) names.emplace_back(row.name);
  for (const luaL_Reg& row : kTables) names.emplace_back(row.name);
  for (lua_pushnil(L); lua_next(L, globals) != 0; lua_pop(L, 1)) {
    if (lua_type(L, -2) == LUA_TSTRING) names.emplace_back(lua_tostring(L, -2));
  }
  lua_Debug frame;
  if (lua_getstack(L, 1, &frame) != 0) {
    for (int i = 1; const char* name = lua_getlocal(L, &frame, i); ++i) {
      if (name[0] != '(') names.emplace_back(name);
      lua_pop(L, 1);
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool push_global(lua_State* L, std::string_view name) {
  if (const luaL_Reg* own = find_in(kOwnFunctions, name)) {
    lua_pushcfunction(L, own->func);
  } else if (const luaL_Reg* table = find_in(kTables, name)) {
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_pushcclosure(L, table->func, 1);
    lua_call(L, 0, 1);
  } else if (const lua_CFunction base = base_function(name)) {
    lua_pushcfunction(L, base);
  } else {
    return false;
  }
  return true;
}

// The __index of the globals.
int look_up_global(lua_State* L) {
  if (lua_type(L, 2) != LUA_TSTRING) return 0;
  const std::string_view name = lua_tostring(L, 2);
  if (!push_global(L, name)) {
    throw std::invalid_argument(
        fmt::format("undefined global '{}'{}", name, did_you_mean(name, known_globals(L, 1))));
  }
  lua_pushvalue(L, 2);
  lua_pushvalue(L, -2);
  Interpreter::of(L).lifetimes().before_write(L, 1, 2);
  lua_rawset(L, 1);
  return 1;
}

}  // namespace

void open_sandbox(lua_State* L, std::uint64_t seed) {
  lua_pushglobaltable(L);
  lua_pushvalue(L, -1);
  lua_setfield(L, -2, LUA_GNAME);
  lua_createtable(L, 0, 2);
  lua_pushinteger(L, static_cast<lua_Integer>(seed));
  lua_pushcclosure(L, native<look_up_global, Entry::access>, 1);
  lua_setfield(L, -2, "__index");
  lua_pushboolean(L, 0);
  lua_setfield(L, -2, "__metatable");
  lua_setmetatable(L, -2);
  // Methods of strings come with the library, whether or not a script names it.
  lua_getfield(L, -1, "string");
  lua_pop(L, 2);
}

}  // namespace ohm::lua
