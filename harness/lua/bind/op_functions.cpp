#include "harness/lua/bind/op_functions.h"

#include <algorithm>
#include <span>

#include "allocator_shim/base/assert.h"
#include "harness/lua/bind/numbered_functions.h"
#include "harness/lua/bind/op_arguments.h"
#include "harness/lua/bind/tensor_handle.h"
#include "runtime/arithmetic/whole_scalars.h"
#include "runtime/ops/op_list.h"
#include "runtime/ops/synonyms.h"

namespace ohm::lua {
namespace {

int call_op(lua_State* L, std::size_t number) {
  const ops::OpDef& op = ops::all_ops()[number];
  const int arguments = lua_gettop(L);
  const WholeScalars exact;
  const std::vector<ops::Value> values = read_parameters(L, op.info.name, op.params);
  return push_result(L, op.call(values), arguments);
}

constexpr auto kOpFunctions = numbered_functions<call_op, 512>();

// What its name in ohm.nn.functional is, where it is another one.
std::string_view name_in(const ops::OpDef& op, ops::Exposure exposure) {
  if (exposure != ops::kFunctional) return op.info.name;
  for (const ops::Synonym& known : ops::kFunctionalNames) {
    if (known.of == op.info.name) return known.name;
  }
  return op.info.name;
}

bool is_in_python(const ops::OpDef& op, ops::Exposure exposure) {
  const auto has = [&](ops::Exposure bits) { return (op.exposure & bits) == bits; };
  if (exposure == ops::kFunctional) return !has(ops::kCppFunctional);
  return exposure == ops::kFunction && has(ops::kPythonFunction);
}

}  // namespace

const ops::OpDef* op_named(std::string_view name, ops::Exposure exposure) {
  if (exposure == ops::kFunctional) {
    for (const ops::Synonym& known : ops::kFunctionalNames) {
      if (known.of == name) return nullptr;
      if (known.name == name) return ops::find_op(known.of);
    }
  }
  return ops::find_op(name);
}

lua_CFunction op_function(std::string_view name, ops::Exposure exposure) {
  const ops::OpDef* op = op_named(name, exposure);
  if (op == nullptr || (op->exposure & exposure) == 0) return nullptr;
  const auto number = static_cast<std::size_t>(op - ops::all_ops().data());
  OHM_ASSERT(number < kOpFunctions.size(), "more ops than numbered functions");
  return kOpFunctions[number];
}

// The mark is an upvalue, which the function itself does not read.
bool push_op_function(lua_State* L, std::string_view name, ops::Exposure exposure) {
  const lua_CFunction function = op_function(name, exposure);
  if (function == nullptr) return false;
  const int marks = is_in_python(*op_named(name, exposure), exposure) ? 1 : 0;
  if (marks != 0) lua_pushboolean(L, 1);
  lua_pushcclosure(L, function, marks);
  return true;
}

bool is_python_function(lua_State* L, int index) {
  if (lua_getupvalue(L, index, 1) == nullptr) return false;
  const bool is_mark =
      lua_iscfunction(L, index < 0 ? index - 1 : index) != 0 && lua_isboolean(L, -1);
  lua_pop(L, 1);
  return is_mark;
}

std::string_view op_name_of(lua_CFunction function) {
  const std::span<const ops::OpDef> ops = ops::all_ops();
  const auto* const known = std::find(kOpFunctions.begin(), kOpFunctions.end(), function);
  const auto number = static_cast<std::size_t>(known - kOpFunctions.begin());
  return number < ops.size() ? ops[number].info.name : std::string_view();
}

std::vector<std::string> op_names(ops::Exposure exposure) {
  std::vector<std::string> names;
  for (const ops::OpDef& op : ops::all_ops()) {
    if ((op.exposure & exposure) != 0) names.emplace_back(name_in(op, exposure));
  }
  for (const ops::Synonym& synonym : ops::kSynonyms) {
    if ((ops::find_op(synonym.of)->exposure & exposure) != 0) names.emplace_back(synonym.name);
  }
  return names;
}

}  // namespace ohm::lua
