#include "harness/lua/bind/table_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <utility>

#include "allocator_shim/base/nearest_name.h"
#include "harness/lua/bind/arguments.h"

namespace ohm::lua {

bool is_list(lua_State* L, int index) {
  if (lua_type(L, index) != LUA_TTABLE) return false;
  index = lua_absindex(L, index);
  std::size_t keys = 0;
  for (lua_pushnil(L); lua_next(L, index) != 0; lua_pop(L, 1)) ++keys;
  const auto count = static_cast<lua_Integer>(lua_rawlen(L, index));
  if (keys != static_cast<std::size_t>(count)) return false;
  for (lua_Integer i = 1; i <= count; ++i) {
    const bool is_there = lua_rawgeti(L, index, i) != LUA_TNIL;
    lua_pop(L, 1);
    if (!is_there) return false;
  }
  return true;
}

TableFields::TableFields(lua_State* L, int index, std::string what)
    : state_(L), table_(lua_absindex(L, index)), what_(std::move(what)) {
  if (lua_type(L, table_) == LUA_TTABLE) return;
  throw std::invalid_argument(fmt::format("{} must be a table, got {}", what_, type_of(L, table_)));
}

void TableFields::check(const std::vector<std::string>& known) const {
  for (const std::string& name : names()) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    throw std::invalid_argument(
        fmt::format("{} has no field '{}'{}", what_, name, did_you_mean(name, known)));
  }
}

std::vector<std::string> TableFields::names() const {
  std::vector<std::string> found;
  for (lua_pushnil(state_); lua_next(state_, table_) != 0; lua_pop(state_, 1)) {
    if (lua_type(state_, -2) != LUA_TSTRING) {
      throw std::invalid_argument(
          fmt::format("{} must have named fields only, not list elements", what_));
    }
    found.emplace_back(lua_tostring(state_, -2));
  }
  std::sort(found.begin(), found.end());
  return found;
}

void TableFields::texts(std::string_view name, std::vector<std::string>& values) const {
  read(name, [&](int index) {
    if (lua_type(state_, index) != LUA_TTABLE) refuse(name, "a list of strings", index);
    if (!is_list(state_, index)) {
      throw std::invalid_argument(fmt::format(
          "{}: field '{}' must be a list of strings: it has other keys, or holes", what_, name));
    }
    const auto count = static_cast<lua_Integer>(lua_rawlen(state_, index));
    for (lua_Integer i = 1; i <= count; ++i) {
      if (lua_rawgeti(state_, index, i) != LUA_TSTRING) refuse(name, "a list of strings", -1);
      values.emplace_back(lua_tostring(state_, -1));
      lua_pop(state_, 1);
    }
  });
}

void TableFields::refuse(std::string_view name, std::string_view expected, int index) const {
  throw std::invalid_argument(fmt::format("{}: field '{}' must be {}, got {}", what_, name,
                                          expected, type_of(state_, index)));
}

}  // namespace ohm::lua
