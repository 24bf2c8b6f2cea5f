#include "harness/lua/runtime_library.h"

#include "harness/lua/arguments.h"
#include "harness/lua/native.h"
#include "harness/lua/tensor_handle.h"
#include "runtime/tensor/context.h"

namespace ohm::lua {
namespace {

int is_tensor(lua_State* L) {
  lua_pushboolean(L, test_handle<Tensor>(L, 1) != nullptr);
  return 1;
}

int manual_seed(lua_State* L) {
  Context::current().seed(
      static_cast<std::uint64_t>(integer_argument(L, 1, {"manual_seed", "seed"})));
  return 0;
}

// Every native begins with a collection: by now everything that can be found has been.
int collect(lua_State* L) {
  lua_pushinteger(L, 0);
  return 1;
}

constexpr luaL_Reg kFunctions[] = {
    {"is_tensor", native<is_tensor, Entry::access>},
    {"manual_seed", native<manual_seed>},
};

constexpr luaL_Reg kGcFunctions[] = {{"collect", native<collect>}};

}  // namespace

std::span<const luaL_Reg> runtime_functions() { return kFunctions; }
std::span<const luaL_Reg> gc_functions() { return kGcFunctions; }

}  // namespace ohm::lua
