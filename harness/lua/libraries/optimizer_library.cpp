#include "harness/lua/libraries/optimizer_library.h"

#include <algorithm>

#include "allocator_shim/base/assert.h"
#include "harness/lua/bind/numbered_functions.h"
#include "harness/lua/bind/op_arguments.h"
#include "harness/lua/bind/optimizer_handle.h"
#include "runtime/optim/registry.h"

namespace ohm::lua {
namespace {

using optim::OptimizerPtr;

int make_registered_optimizer(lua_State* L, std::size_t number) {
  const optim::OptimizerDef& row = optim::all_optimizers()[number];
  push_handle<OptimizerPtr>(L, row.make(read_parameters(L, row.name, row.params)));
  return 1;
}

constexpr auto kOptimizerConstructors = numbered_functions<make_registered_optimizer, 64>();

}  // namespace

bool push_optimizer_constructor(lua_State* L, std::string_view name) {
  const auto& rows = optim::all_optimizers();
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const optim::OptimizerDef& known) {
    return known.name == name;
  });
  if (row == rows.end()) return false;
  OHM_ASSERT(rows.size() <= kOptimizerConstructors.size(),
             "more optimizers than numbered functions");
  lua_pushcfunction(L, kOptimizerConstructors[static_cast<std::size_t>(row - rows.begin())]);
  return true;
}

std::vector<std::string> optimizer_names() {
  std::vector<std::string> names;
  for (const optim::OptimizerDef& row : optim::all_optimizers()) names.emplace_back(row.name);
  return names;
}

}  // namespace ohm::lua
