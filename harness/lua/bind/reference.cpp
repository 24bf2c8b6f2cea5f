#include "harness/lua/bind/reference.h"

#include "harness/lua/vm/interpreter.h"

namespace ohm::lua {

Reference::Reference(lua_State* L)
    : owner_(Interpreter::of(L).self()), number_(luaL_ref(L, LUA_REGISTRYINDEX)) {}

Reference::~Reference() {
  const std::shared_ptr<Interpreter* const> owner = owner_.lock();
  if (!owner) return;
  luaL_unref((*owner)->running_state(), LUA_REGISTRYINDEX, number_);
  (*owner)->note_dropped_reference();
}

}  // namespace ohm::lua
