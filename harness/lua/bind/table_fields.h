// Fields of a table that a script passes: read by name, and refused where they are of another type.
#pragma once

#include <lua.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "harness/lua/vm/push_text.h"

namespace ohm::lua {

/// A table with the keys 1 to n and no others.
bool is_list(lua_State* L, int index);

/// Every function but read() throws std::invalid_argument.
class TableFields {
 public:
  /// `what` is what errors call it: "[scenario] gpu".
  TableFields(lua_State* L, int index, std::string what);

  /// Throws for a field that is not among `known`.
  void check(const std::vector<std::string>& known) const;

  /// Names of all fields, in byte order. Throws for a key that is not a string.
  std::vector<std::string> names() const;

  /// Calls read(value's index) with the field on top of the stack, if it is there.
  template <class F>
  void read(std::string_view name, F&& read) const {
    push_text(state_, name);
    if (lua_rawget(state_, table_) != LUA_TNIL) read(lua_gettop(state_));
    lua_pop(state_, 1);
  }

  /// `value` is a string, or an optional one.
  template <class Text>
  void text(std::string_view name, Text& value) const {
    read(name, [&](int index) {
      if (lua_type(state_, index) != LUA_TSTRING) refuse(name, "a string", index);
      value = lua_tostring(state_, index);
    });
  }
  void texts(std::string_view name, std::vector<std::string>& values) const;

  [[noreturn]] void refuse(std::string_view name, std::string_view expected, int index) const;

 private:
  lua_State* state_;
  int table_;
  std::string what_;
};

}  // namespace ohm::lua
