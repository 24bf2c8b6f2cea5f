#include "harness/lua/bind/reference.h"

#include "harness/lua/vm/interpreter.h"

namespace ohm::lua {

namespace {

int keep_in_registry(lua_State* L) {
  Interpreter::of(L).lifetimes().note_held(L, -1);
  return luaL_ref(L, LUA_REGISTRYINDEX);
}

}  // namespace

Reference::Reference(lua_State* L)
    : owner_(Interpreter::of(L).self()), number_(keep_in_registry(L)) {}

Reference::~Reference() {
  const std::shared_ptr<Interpreter* const> owner = owner_.lock();
  if (!owner) return;
  lua_State* L = (*owner)->running_state();
  if ((*owner)->lifetimes().is_watching()) {
    const raw::Untouched untouched(L);
    lua_rawgeti(L, LUA_REGISTRYINDEX, number_);
    (*owner)->lifetimes().note_let_go(L, -1);
  }
  luaL_unref(L, LUA_REGISTRYINDEX, number_);
  (*owner)->note_dropped_reference();
}

}  // namespace ohm::lua
