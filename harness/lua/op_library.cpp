#include "harness/lua/op_library.h"

#include <array>
#include <utility>

#include "allocator_shim/observe/assert.h"
#include "harness/lua/native.h"
#include "harness/lua/parameters.h"
#include "harness/lua/tensor_handle.h"

namespace ohm::lua {
namespace {

// Note [One function per op]
// A closure for each op would be an object of the script's heap; a function with the op's number
// compiled in is none. There may be fewer ops than numbers.
constexpr std::size_t kMostOps = 512;

// In-place ops return their argument: it is the same handle then.
int push_result(lua_State* L, const ops::Value& result, int arguments) {
  if (const Tensor* tensor = std::get_if<Tensor>(&result)) {
    for (int index = 1; index <= arguments; ++index) {
      const Tensor* argument = test_handle<Tensor>(L, index);
      if (argument == nullptr || !argument->is_same(*tensor)) continue;
      lua_pushvalue(L, index);
      return 1;
    }
  }
  return push_value(L, result);
}

template <std::size_t I>
int call_op(lua_State* L) {
  const ops::OpDef& op = ops::all_ops()[I];
  const int arguments = lua_gettop(L);
  const std::vector<ops::Value> values = read_parameters(L, op.info.name, op.params);
  lua_settop(L, arguments);
  return push_result(L, op.call(values), arguments);
}

template <std::size_t... I>
constexpr std::array<lua_CFunction, sizeof...(I)> numbered(std::index_sequence<I...> /*all*/) {
  return {native<call_op<I>>...};
}

constexpr auto kFunctions = numbered(std::make_index_sequence<kMostOps>());

}  // namespace

lua_CFunction op_function(std::string_view name, ops::Exposure exposure) {
  const ops::OpDef* op = ops::find_op(name);
  if (op == nullptr || (op->exposure & exposure) == 0) return nullptr;
  const auto number = static_cast<std::size_t>(op - ops::all_ops().data());
  OHM_ASSERT(number < kMostOps, "more ops than numbered functions");
  return kFunctions[number];
}

std::vector<std::string> op_names(ops::Exposure exposure) {
  std::vector<std::string> names;
  for (const ops::OpDef& op : ops::all_ops()) {
    if ((op.exposure & exposure) != 0) names.emplace_back(op.info.name);
  }
  return names;
}

}  // namespace ohm::lua
