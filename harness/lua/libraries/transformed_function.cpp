#include "harness/lua/libraries/transformed_function.h"

#include <string>

#include "harness/lua/bind/arguments.h"
#include "harness/lua/bind/module_handle.h"
#include "harness/lua/vm/interpreter.h"

namespace ohm::lua {
namespace {

// The upvalues of a transformed function: the function, and a table of its options.
constexpr int kFunction = 1;
constexpr int kOptions = 2;

}  // namespace

int transform_function(lua_State* L, const char* name, std::span<const std::string_view> options,
                       lua_CFunction transformed) {
  if (lua_type(L, 1) != LUA_TFUNCTION && test_handle<nn::ModulePtr>(L, 1) == nullptr) {
    refuse_argument(L, 1, {name, "func"}, "a function or a module");
  }
  const NamedArguments named(L, name);
  named.check_names(options);
  lua_pushvalue(L, 1);
  lua_createtable(L, 0, static_cast<int>(options.size()));
  int position = 2;
  for (const std::string_view option : options) {
    if (position <= named.positional_count()) {
      lua_pushvalue(L, position++);
    } else if (!named.push(option)) {
      continue;
    }
    lua_setfield(L, -2, std::string(option).c_str());
  }
  lua_pushcclosure(L, transformed, 2);
  return 1;
}

void push_transformed(lua_State* L) { lua_pushvalue(L, lua_upvalueindex(kFunction)); }

int push_transform_option(lua_State* L, const char* name) {
  lua_getfield(L, lua_upvalueindex(kOptions), name);
  return lua_gettop(L);
}

void call_transformed(lua_State* L, int arguments, int results) {
  lua_call(L, arguments, results);
  Interpreter::of(L).collect(L);
}

}  // namespace ohm::lua
