#include "harness/lua/libraries/deep_copy_library.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <vector>

#include "harness/lua/bind/arguments.h"
#include "harness/lua/bind/module_handle.h"
#include "harness/lua/bind/native.h"
#include "harness/lua/bind/parameter_handle.h"
#include "harness/lua/bind/tensor_handle.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/nn/deep_copy.h"

namespace ohm::lua {
namespace {

/// A table and what is in it. Tensors are copied oldest handle first: a table does not tell the
/// order in which it got its entries.
class TableCopy {
 public:
  explicit TableCopy(lua_State* L) : state_(L) {}

  /// Pushes the copy of the table at `index`.
  void push(int index) {
    const int table = lua_absindex(state_, index);
    find_tensors(table, 0);
    lua_newtable(state_);  // the copies, by their originals
    known_ = lua_gettop(state_);
    copy_tensors();
    push_table(table);
    lua_remove(state_, known_);
  }

 private:
  static constexpr int kDeepest = 64;

  struct Found {
    std::uint64_t age;
    const void* handle;
    Tensor tensor;
    bool is_parameter;
  };

  void find_tensors(int table, int depth) {
    if (!seen_.insert(lua_topointer(state_, table)).second) return;
    if (depth == kDeepest) {
      throw std::invalid_argument(
          fmt::format("[deepcopy] tables are nested more than {} deep", kDeepest));
    }
    luaL_checkstack(state_, 4, "tables nested too deep to be copied");
    if (lua_getmetatable(state_, table) != 0) {
      throw std::invalid_argument("[deepcopy] a table with a metatable cannot be copied");
    }
    for (lua_pushnil(state_); lua_next(state_, table) != 0; lua_pop(state_, 1)) {
      const int value = lua_gettop(state_);
      if (lua_istable(state_, value)) find_tensors(value, depth + 1);
      if (lua_type(state_, value) == LUA_TUSERDATA) find_tensor(value);
    }
  }

  void find_tensor(int index) {
    const Tensor& tensor = tensor_argument(state_, index, {"deepcopy", "x"});
    const auto* const handle = static_cast<const HandleHead*>(lua_touserdata(state_, index));
    found_.push_back({handle->age, handle, tensor, is_parameter(state_, index)});
  }

  void copy_tensors() {
    std::sort(found_.begin(), found_.end(),
              [](const Found& a, const Found& b) { return a.age < b.age; });
    nn::DeepCopies copies;
    for (const Found& one : found_) {
      if (one.is_parameter) {
        push_parameter(state_, copies.parameter(one.tensor));
      } else {
        push_tensor(state_, copies.tensor(one.tensor));
      }
      lua_rawsetp(state_, known_, one.handle);
    }
  }

  void push_table(int table) {
    lua_newtable(state_);
    const int copy = lua_gettop(state_);
    lua_pushvalue(state_, copy);
    lua_rawsetp(state_, known_, lua_topointer(state_, table));
    for (lua_pushnil(state_); lua_next(state_, table) != 0; lua_pop(state_, 1)) {
      lua_pushvalue(state_, -2);
      push_value_copy(lua_gettop(state_) - 1);
      lua_rawset(state_, copy);
    }
  }

  void push_value_copy(int index) {
    const bool is_copied = lua_istable(state_, index) || lua_type(state_, index) == LUA_TUSERDATA;
    if (!is_copied) return lua_pushvalue(state_, index);
    if (lua_rawgetp(state_, known_, lua_topointer(state_, index)) != LUA_TNIL) return;
    lua_pop(state_, 1);
    push_table(index);
  }

  lua_State* state_;
  int known_ = 0;
  std::set<const void*> seen_;
  std::vector<Found> found_;
};

// deepcopy(module, leaf tensor, or table of tensors): with tensors of its own, of equal values. A
// tensor takes its gradient along, a parameter does not, as in PyTorch.
int deepcopy(lua_State* L) {
  const NoGradGuard no_graph;
  if (lua_istable(L, 1)) {
    TableCopy(L).push(1);
  } else if (test_handle<nn::ModulePtr>(L, 1) != nullptr) {
    push_module(L, nn::deep_copy(*module_argument(L, 1, {"deepcopy", "x"})));
  } else {
    const Tensor& tensor = tensor_argument(L, 1, {"deepcopy", "x"});
    nn::DeepCopies copies;
    if (is_parameter(L, 1)) {
      push_parameter(L, copies.parameter(tensor));
    } else {
      push_tensor(L, copies.tensor(tensor));
    }
  }
  return 1;
}

constexpr luaL_Reg kCopyFunctions[] = {{"deepcopy", native<deepcopy>}};

}  // namespace

std::span<const luaL_Reg> copy_functions() { return kCopyFunctions; }

}  // namespace ohm::lua
