#include "harness/lua/libraries/runtime_library.h"

#include <cstdint>

#include "harness/lua/bind/arguments.h"
#include "harness/lua/bind/native.h"
#include "harness/lua/bind/tensor_handle.h"
#include "runtime/tensor/context.h"

namespace ohm::lua {
namespace {

int is_tensor(lua_State* L) {
  lua_pushboolean(L, test_handle<Tensor>(L, 1) != nullptr);
  return 1;
}

int default_manual_seed(lua_State* L) {
  Context::current().seed(
      static_cast<std::uint64_t>(integer_argument(L, 1, {"manual_seed", "seed"})));
  return 0;
}

constexpr luaL_Reg kRuntimeFunctions[] = {
    {"is_tensor", native<is_tensor, Entry::access>},
    {"manual_seed", native<default_manual_seed>},
};

}  // namespace

std::span<const luaL_Reg> runtime_functions() { return kRuntimeFunctions; }

}  // namespace ohm::lua
