#include "harness/lua/bind/stop_recomputation.h"

namespace ohm::lua {
namespace {

// Its address is the error.
char stop_recomputation = 0;

}  // namespace

void push_stop_recomputation(lua_State* L) { lua_pushlightuserdata(L, &stop_recomputation); }

bool is_stop_recomputation(lua_State* L, int index) {
  return lua_touserdata(L, index) == &stop_recomputation;
}

}  // namespace ohm::lua
