#include "harness/lua/bind/temporaries.h"

#include "harness/lua/vm/dead_registers.h"
#include "harness/lua/vm/interpreter.h"

namespace ohm::lua {

void drop_temporaries(lua_State* L) {
  clear_dead_registers(L);
  Interpreter::of(L).collect(L);
}

}  // namespace ohm::lua
