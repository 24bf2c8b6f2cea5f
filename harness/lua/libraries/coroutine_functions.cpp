#include "harness/lua/libraries/coroutine_functions.h"

#include "harness/lua/libraries/wrapped_functions.h"
#include "harness/lua/vm/interpreter.h"

namespace ohm::lua {
namespace {

void note_change_of(lua_State* L, int coroutine) {
  if (lua_State* const known = lua_tothread(L, coroutine)) {
    Interpreter::of(L).lifetimes().note_change_of(known);
  }
}

// resume(coroutine, …), close(coroutine)
int change_coroutine(lua_State* L) {
  note_change_of(L, 1);
  return call_original(L);
}

// Upvalues: the coroutine, where Lua's function looks for it, and Lua's function.
int resume_wrapped(lua_State* L) {
  note_change_of(L, lua_upvalueindex(1));
  return call_original(L, 2);
}

// wrap(function)
int wrap(lua_State* L) {
  call_original(L);
  lua_getupvalue(L, -1, 1);
  lua_pushcfunction(L, lua_tocfunction(L, -2));
  lua_pushcclosure(L, &resume_wrapped, 2);
  return 1;
}

constexpr luaL_Reg kOwn[] = {
    {"close", change_coroutine},
    {"resume", change_coroutine},
    {"wrap", wrap},
};

}  // namespace

int open_coroutine(lua_State* L) {
  luaopen_coroutine(L);
  wrap_functions(L, kOwn);
  return 1;
}

}  // namespace ohm::lua
