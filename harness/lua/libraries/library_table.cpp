#include "harness/lua/libraries/library_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "allocator_shim/base/assert.h"
#include "allocator_shim/base/nearest_name.h"
#include "harness/lua/bind/native.h"
#include "harness/lua/libraries/libraries.h"
#include "harness/lua/vm/interpreter.h"

namespace ohm::lua {
namespace {

// The part of a library's name behind its parent's, if it is a child of `parent`.
std::string_view name_in(const Library& parent, const Library& child) {
  const std::size_t dot = child.name.rfind('.');
  if (dot == std::string_view::npos || child.name.substr(0, dot) != parent.name) return {};
  return child.name.substr(dot + 1);
}

void push_table(lua_State* L, const Library& library);

bool push_member(lua_State* L, const Library& library, std::string_view name) {
  for (const std::span<const luaL_Reg> functions : library.functions) {
    for (const luaL_Reg& function : functions) {
      if (name != function.name) continue;
      lua_pushcfunction(L, function.func);
      return true;
    }
  }
  for (const Library& child : libraries()) {
    if (name_in(library, child) != name) continue;
    push_table(L, child);
    return true;
  }
  return library.push != nullptr && library.push(L, name);
}

const Library& library_of(lua_State* L) {
  return *static_cast<const Library*>(lua_touserdata(L, lua_upvalueindex(1)));
}

std::string_view key_argument(lua_State* L) {
  std::size_t length = 0;
  const char* key = lua_type(L, 2) == LUA_TSTRING ? lua_tolstring(L, 2, &length) : "";
  return {key, length};
}

const Property* find_property(const Library& library, std::string_view name) {
  const auto found = std::find_if(library.properties.begin(), library.properties.end(),
                                  [&](const Property& known) { return known.name == name; });
  return found == library.properties.end() ? nullptr : &*found;
}

// (table, key): the __index of a library's table, which is called for what it lacks. Properties are
// never put there.
int look_up(lua_State* L) {
  const Library& library = library_of(L);
  const std::string_view name = key_argument(L);
  if (const Property* property = find_property(library, name)) {
    property->push(L);
    return 1;
  }
  if (name.empty() || !push_member(L, library, name)) {
    throw std::invalid_argument(fmt::format("{} has no field '{}'{}", library.name, name,
                                            did_you_mean(name, names_of(library))));
  }
  lua_pushvalue(L, 2);
  lua_pushvalue(L, -2);
  Interpreter::of(L).lifetimes().before_write(L, 1, 2);
  lua_rawset(L, 1);
  return 1;
}

// (table, key, value): the __newindex of a library's table. A script may put fields of its own
// there.
int assign(lua_State* L) {
  if (const Property* property = find_property(library_of(L), key_argument(L))) {
    property->set(L, 3);
  } else {
    Interpreter::of(L).lifetimes().before_write(L, 1, 2);
    lua_rawset(L, 1);
  }
  return 0;
}

void push_table(lua_State* L, const Library& library) {
  const auto set_metamethod = [&](const char* name, lua_CFunction function) {
    lua_pushlightuserdata(L, const_cast<Library*>(&library));
    lua_pushcclosure(L, function, 1);
    lua_setfield(L, -2, name);
  };
  lua_newtable(L);
  lua_createtable(L, 0, 2);
  set_metamethod("__index", native<look_up, Entry::access>);
  set_metamethod("__newindex", native<assign, Entry::access>);
  lua_setmetatable(L, -2);
}

}  // namespace

void push_library(lua_State* L, std::string_view name) {
  const auto all = libraries();
  const auto library = std::find_if(all.begin(), all.end(),
                                    [&](const Library& known) { return known.name == name; });
  OHM_ASSERT(library != all.end(), "a library that has no row");
  push_table(L, *library);
}

std::vector<std::string> names_of(const Library& library) {
  std::vector<std::string> names;
  for (const std::span<const luaL_Reg> functions : library.functions) {
    for (const luaL_Reg& function : functions) names.emplace_back(function.name);
  }
  for (const Library& child : libraries()) {
    const std::string_view name = name_in(library, child);
    if (!name.empty()) names.emplace_back(name);
  }
  for (const Property& property : library.properties) names.emplace_back(property.name);
  if (library.names != nullptr) {
    for (std::string& name : library.names()) names.push_back(std::move(name));
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace ohm::lua
