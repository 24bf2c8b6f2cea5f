#include "harness/lua/libraries/func_library.h"

#include <fmt/core.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "harness/lua/bind/arguments.h"
#include "harness/lua/bind/module_handle.h"
#include "harness/lua/bind/native.h"
#include "harness/lua/bind/tensor_handle.h"
#include "harness/lua/libraries/transformed_function.h"
#include "runtime/autograd/variable.h"
#include "runtime/func/swapped_state.h"
#include "runtime/ops/concat.h"

namespace ohm::lua {
namespace {

// ---- functional_call ----------------------------------------------------------------------------

void add_state(lua_State* L, int index, std::vector<nn::NamedTensor>& state) {
  for (lua_pushnil(L); lua_next(L, index) != 0; lua_pop(L, 1)) {
    if (lua_type(L, -2) == LUA_TNUMBER) {
      add_state(L, lua_gettop(L), state);
      continue;
    }
    if (lua_type(L, -2) != LUA_TSTRING) {
      throw std::invalid_argument("[functional_call] parameters and buffers go by their names");
    }
    const std::string name = lua_tostring(L, -2);
    state.push_back({name, tensor_argument(L, -1, {"functional_call", name})});
  }
}

// functional_call(module, {[name] = tensor} or a list of such, argument or list of arguments): what
// the module returns with these in the places of its own parameters and buffers.
int functional_call(lua_State* L) {
  constexpr ArgumentName kState{"functional_call", "parameter_and_buffer_dicts"};
  const nn::ModulePtr module = module_argument(L, 1, {"functional_call", "module"});
  if (lua_type(L, 2) != LUA_TTABLE) refuse_argument(L, 2, kState, "a table");
  std::vector<nn::NamedTensor> state;
  add_state(L, 2, state);
  const func::SwappedState swapped(module, state);
  const int top = lua_gettop(L);
  lua_pushvalue(L, 1);
  int arguments = 0;
  if (lua_type(L, 3) == LUA_TTABLE) {
    arguments = static_cast<int>(lua_rawlen(L, 3));
    luaL_checkstack(L, arguments + LUA_MINSTACK, nullptr);
    for (int i = 1; i <= arguments; ++i) lua_rawgeti(L, 3, i);
  } else if (top >= 3) {
    lua_pushvalue(L, 3);
    arguments = 1;
  }
  state.clear();
  call_transformed(L, arguments, LUA_MULTRET);
  return lua_gettop(L) - top;
}

// ---- stack_module_state
// --------------------------------------------------------------------------

Tensor stacked_leaf(const std::vector<Tensor>& tensors, const std::string& name) {
  const bool wants_gradient = tensors.front().requires_grad();
  for (const Tensor& each : tensors) {
    if (each.requires_grad() == wants_gradient) continue;
    throw std::invalid_argument(fmt::format(
        "[stack_module_state] expected {} of each model to have the same requires_grad", name));
  }
  const Tensor stacked = ops::stack(tensors, 0);
  if (!wants_gradient) return stacked;
  Tensor leaf = detach(stacked);
  leaf.set_requires_grad(true);
  return leaf;
}

using StateOf = std::vector<nn::NamedTensor> (nn::Module::*)() const;

void push_stacked_state(lua_State* L, const std::vector<nn::ModulePtr>& models, StateOf state) {
  std::vector<std::vector<nn::NamedTensor>> all;
  for (const nn::ModulePtr& model : models) all.push_back(((*model).*state)());
  lua_newtable(L);
  for (std::size_t i = 0; i < all.front().size(); ++i) {
    std::vector<Tensor> tensors;
    for (const std::vector<nn::NamedTensor>& of_one : all) {
      if (of_one.size() != all.front().size()) {
        throw std::invalid_argument("[stack_module_state] expected all models to be alike");
      }
      tensors.push_back(of_one[i].tensor);
    }
    const std::string& name = all.front()[i].name;
    push_tensor(L, stacked_leaf(tensors, name));
    lua_setfield(L, -2, name.c_str());
  }
}

// stack_module_state(list of modules): their parameters and their buffers by name, one behind the
// other along a new first dimension.
int stack_module_state(lua_State* L) {
  constexpr ArgumentName kModels{"stack_module_state", "models"};
  if (lua_type(L, 1) != LUA_TTABLE) refuse_argument(L, 1, kModels, "a list of modules");
  std::vector<nn::ModulePtr> models;
  const lua_Integer count = list_length(L, 1, kModels);
  for (lua_Integer i = 1; i <= count; ++i) {
    lua_rawgeti(L, 1, i);
    models.push_back(module_argument(L, -1, kModels));
    lua_pop(L, 1);
  }
  if (models.empty()) {
    throw std::invalid_argument("[stack_module_state] expected at least one model, got 0");
  }
  push_stacked_state(L, models, &nn::Module::named_parameters);
  push_stacked_state(L, models, &nn::Module::named_buffers);
  return 2;
}

constexpr luaL_Reg kFuncFunctions[] = {
    {"functional_call", native<functional_call>},
    {"stack_module_state", native<stack_module_state>},
};

}  // namespace

std::span<const luaL_Reg> func_functions() { return kFuncFunctions; }

}  // namespace ohm::lua
