#include "harness/lua/bind/tensor_comparison.h"

#include <vector>

#include "harness/lua/bind/arguments.h"
#include "harness/lua/bind/native.h"
#include "harness/lua/bind/op_arguments.h"
#include "harness/lua/bind/tensor_handle.h"
#include "runtime/ops/pointwise/closeness.h"
#include "runtime/ops/signature.h"

namespace ohm::lua {
namespace {

int equal(lua_State* L) {
  lua_pushboolean(L, ops::equal(tensor_argument(L, 1, {"equal", "input"}),
                                tensor_argument(L, 2, {"equal", "other"})));
  return 1;
}

int allclose(lua_State* L) {
  static const std::vector<ops::Param> kParams =
      ops::params_of<Tensor, Tensor, double, double, bool>(
          {"input", "other", {"rtol", 1e-5}, {"atol", 1e-8}, {"equal_nan", false}});
  const std::vector<ops::Value> values = read_parameters(L, "allclose", kParams);
  lua_pushboolean(L, ops::invoke(&ops::allclose, values));
  return 1;
}

constexpr luaL_Reg kComparisons[] = {{"allclose", native<allclose>}, {"equal", native<equal>}};

}  // namespace

std::span<const luaL_Reg> tensor_comparisons() { return kComparisons; }

}  // namespace ohm::lua
