#include "harness/lua/bind/module_methods.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "harness/lua/bind/arguments.h"
#include "harness/lua/bind/conversion_target.h"
#include "harness/lua/bind/mode.h"
#include "harness/lua/bind/module_handle.h"
#include "harness/lua/bind/native.h"
#include "harness/lua/bind/parameter_handle.h"
#include "harness/lua/bind/script_module.h"
#include "harness/lua/bind/tensor_handle.h"
#include "harness/lua/vm/push_text.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/autograd/variable.h"
#include "runtime/nn/module_walk.h"
#include "runtime/nn/recurrent.h"
#include "runtime/nn/sequential.h"
#include "runtime/ops/conversion/convert.h"
#include "runtime/parallel/distributed_data_parallel.h"
#include "runtime/tensor/context.h"

namespace ohm::lua {
namespace {

using nn::Module;
using nn::ModulePtr;
using nn::NamedTensor;

ModulePtr self(lua_State* L, std::string_view method) {
  return module_argument(L, 1, {method, "self"});
}

int return_self(lua_State* L) {
  lua_pushvalue(L, 1);
  return 1;
}

// ---- moving -------------------------------------------------------------------------------------

int to(lua_State* L) {
  const ConversionTarget target = conversion_arguments(L, "to");
  self(L, "to")->move_to(target.device, target.dtype, target.format);
  return return_self(L);
}

int cuda(lua_State* L) {
  const Device device = lua_isnoneornil(L, 2) ? Context::current().state.current_gpu
                                              : device_argument(L, 2, {"cuda", "device"});
  self(L, "cuda")->move_to(device, std::nullopt);
  return return_self(L);
}

int cpu(lua_State* L) {
  self(L, "cpu")->move_to(Device::cpu(), std::nullopt);
  return return_self(L);
}

template <DType D>
int cast_to(lua_State* L) {
  self(L, name_of(D))->move_to(std::nullopt, D);
  return return_self(L);
}

int flatten_parameters(lua_State* L) {
  const ModulePtr module = self(L, "flatten_parameters");
  auto* const recurrent = dynamic_cast<nn::Recurrent*>(module.get());
  if (recurrent == nullptr) {
    throw std::invalid_argument(
        fmt::format("[flatten_parameters] expected RNN, GRU or LSTM, not {}", module->type_name()));
  }
  recurrent->flatten_parameters();
  return 0;
}

// ---- modes --------------------------------------------------------------------------------------

int train(lua_State* L) {
  self(L, "train")
      ->set_training(lua_isnoneornil(L, 2) || boolean_argument(L, 2, {"train", "mode"}));
  return return_self(L);
}

int eval(lua_State* L) {
  self(L, "eval")->set_training(false);
  return return_self(L);
}

int set_requires_grad(lua_State* L) {
  self(L, "requires_grad_")
      ->set_requires_grad(lua_isnoneornil(L, 2) ||
                          boolean_argument(L, 2, {"requires_grad_", "requires_grad"}));
  return return_self(L);
}

int zero_grad(lua_State* L) {
  const NamedArguments named(L, "zero_grad");
  constexpr std::string_view kNames[] = {"set_to_none"};
  named.check_names(kNames);
  self(L, "zero_grad")->zero_grad(named.boolean("set_to_none", true));
  return 0;
}

// ---- listing ------------------------------------------------------------------------------------

using PushTensor = void (*)(lua_State* L, const Tensor& tensor);

int push_list(lua_State* L, const std::vector<NamedTensor>& tensors, PushTensor push) {
  lua_createtable(L, static_cast<int>(tensors.size()), 0);
  lua_Integer count = 0;
  for (const NamedTensor& entry : tensors) {
    push(L, entry.tensor);
    lua_rawseti(L, -2, ++count);
  }
  return 1;
}

// The iterator of `for name, x in …`. Upvalues: a list of names and values, and how many of its
// entries were handed out.
int next_pair(lua_State* L) {
  const lua_Integer done = lua_tointeger(L, lua_upvalueindex(2));
  lua_pushinteger(L, done + 2);
  lua_replace(L, lua_upvalueindex(2));
  if (lua_rawgeti(L, lua_upvalueindex(1), done + 1) == LUA_TNIL) return 1;
  lua_rawgeti(L, lua_upvalueindex(1), done + 2);
  return 2;
}

/// Makes the iterator: add names and values, then finish().
class PairList {
 public:
  explicit PairList(lua_State* L) : state_(L) { lua_newtable(L); }

  /// Pops the value on top of the stack.
  void add(std::string_view name) {
    lua_rawseti(state_, -2, count_ + 2);
    push_text(state_, name);
    lua_rawseti(state_, -2, count_ + 1);
    count_ += 2;
  }
  int finish() {
    lua_pushinteger(state_, 0);
    lua_pushcclosure(state_, &next_pair, 2);
    return 1;
  }

 private:
  lua_State* state_;
  lua_Integer count_ = 0;
};

int push_pairs(lua_State* L, const std::vector<NamedTensor>& tensors, PushTensor push) {
  PairList pairs(L);
  for (const NamedTensor& entry : tensors) {
    push(L, entry.tensor);
    pairs.add(entry.name);
  }
  return pairs.finish();
}

int parameters(lua_State* L) {
  return push_list(L, self(L, "parameters")->named_parameters(), push_parameter);
}
int named_parameters(lua_State* L) {
  return push_pairs(L, self(L, "named_parameters")->named_parameters(), push_parameter);
}
int buffers(lua_State* L) { return push_list(L, self(L, "buffers")->named_buffers(), push_tensor); }
int named_buffers(lua_State* L) {
  return push_pairs(L, self(L, "named_buffers")->named_buffers(), push_tensor);
}

int children(lua_State* L) {
  const ModulePtr module = self(L, "children");
  lua_createtable(L, static_cast<int>(module->children().size()), 0);
  lua_Integer count = 0;
  for (const nn::NamedModule& child : module->children()) {
    push_module(L, child.module);
    lua_rawseti(L, -2, ++count);
  }
  return 1;
}

int named_children(lua_State* L) {
  PairList pairs(L);
  for (const nn::NamedModule& child : self(L, "named_children")->children()) {
    push_module(L, child.module);
    pairs.add(child.name);
  }
  return pairs.finish();
}

// A module and all below it, depth first, each once; the first one's name is "".
int modules(lua_State* L) {
  lua_newtable(L);
  lua_Integer count = 0;
  nn::walk_modules(*self(L, "modules"), [&](Module& module, const std::string& /*prefix*/) {
    push_module(L, module.shared_from_this());
    lua_rawseti(L, -2, ++count);
  });
  return 1;
}

int named_modules(lua_State* L) {
  PairList pairs(L);
  nn::walk_modules(*self(L, "named_modules"), [&](Module& module, std::string_view prefix) {
    push_module(L, module.shared_from_this());
    pairs.add(prefix.substr(0, prefix.empty() ? 0 : prefix.size() - 1));
  });
  return pairs.finish();
}

// apply(fn): the children first, as PyTorch goes; a module that stands in several places gets
// several calls.
int apply(lua_State* L) {
  struct Entered {
    ModulePtr module;
    std::size_t next_child = 0;
  };
  if (lua_type(L, 2) != LUA_TFUNCTION) refuse_argument(L, 2, {"apply", "fn"}, "a function");
  std::vector<Entered> entered = {{self(L, "apply")}};
  while (!entered.empty()) {
    Entered& last = entered.back();
    if (last.next_child < last.module->children().size()) {
      entered.push_back({last.module->children()[last.next_child++].module});
      continue;
    }
    lua_pushvalue(L, 2);
    push_module(L, last.module);
    entered.pop_back();
    lua_call(L, 1, 0);
  }
  return return_self(L);
}

// ---- state --------------------------------------------------------------------------------------

// Module by module, parameters before buffers; one that stands in several modules by each name.
std::vector<NamedTensor> state_of(const Module& module) {
  std::vector<NamedTensor> state;
  nn::walk_modules(module, [&](const Module& one, const std::string& prefix) {
    for (const std::vector<NamedTensor>* own : {&one.own_parameters(), &one.own_buffers()}) {
      for (const NamedTensor& entry : *own) {
        if (entry.tensor.defined()) state.push_back({prefix + entry.name, entry.tensor});
      }
    }
  });
  return state;
}

// A table from names to the tensors' own memory, outside any graph.
int state_dict(lua_State* L) {
  const ModulePtr module = self(L, "state_dict");
  lua_newtable(L);
  for (const NamedTensor& entry : state_of(*module)) {
    push_tensor(L, detach(entry.tensor));
    lua_setfield(L, -2, entry.name.c_str());
  }
  return 1;
}

int load_state_dict(lua_State* L) {
  const ModulePtr module = self(L, "load_state_dict");
  if (lua_type(L, 2) != LUA_TTABLE) {
    refuse_argument(L, 2, {"load_state_dict", "state_dict"}, "a table");
  }
  const NoGradGuard no_grad;
  for (const NamedTensor& entry : state_of(*module)) {
    lua_getfield(L, 2, entry.name.c_str());
    const Tensor& source = tensor_argument(L, -1, {"load_state_dict", entry.name});
    if (source.shape() != entry.tensor.shape()) {
      throw std::invalid_argument(fmt::format("[load_state_dict] '{}' is {}, got {}", entry.name,
                                              entry.tensor.shape().str(), source.shape().str()));
    }
    ops::copy_(entry.tensor, source);
    lua_pop(L, 1);
  }
  return return_self(L);
}

ScriptModule& script_module(lua_State* L, std::string_view method) {
  auto* module = dynamic_cast<ScriptModule*>(self(L, method).get());
  if (module == nullptr) {
    throw std::invalid_argument(
        fmt::format("[{}] only a module that the script defines can be extended", method));
  }
  return *module;
}

int register_buffer(lua_State* L) {
  const std::string name(string_argument(L, 2, {"register_buffer", "name"}));
  script_module(L, "register_buffer")
      .add_buffer(name, tensor_argument(L, 3, {"register_buffer", "tensor"}));
  return 0;
}

// A list of modules grows at its end; entries are named "0", "1", ….
int append(lua_State* L) {
  if (auto* const sequential = dynamic_cast<nn::Sequential*>(self(L, "append").get())) {
    sequential->add_child(std::to_string(sequential->children().size()),
                          module_argument(L, 2, {"append", "module"}));
    return return_self(L);
  }
  ScriptModule& module = script_module(L, "append");
  module.add_child(std::to_string(module.children().size()),
                   module_argument(L, 2, {"append", "module"}));
  return return_self(L);
}

int forward(lua_State* L) {
  lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
  return lua_gettop(L);
}

/// Gradients of a DistributedDataParallel stay on their ranks while it lives.
class NoSyncGuard {
 public:
  explicit NoSyncGuard(std::shared_ptr<parallel::DistributedDataParallel> module)
      : module_(std::move(module)), previous_(module_->exchange_gradient_sync(false)) {}
  ~NoSyncGuard() { module_->exchange_gradient_sync(previous_); }
  NoSyncGuard(const NoSyncGuard&) = delete;
  NoSyncGuard& operator=(const NoSyncGuard&) = delete;

 private:
  std::shared_ptr<parallel::DistributedDataParallel> module_;
  bool previous_;
};

// module:no_sync([fn, …])
int no_sync(lua_State* L) {
  auto module = std::dynamic_pointer_cast<parallel::DistributedDataParallel>(self(L, "no_sync"));
  if (!module) {
    throw std::invalid_argument("[no_sync] needs a DistributedDataParallel");
  }
  return enter_mode(L, 2, {"no_sync", "fn"}, std::make_shared<NoSyncGuard>(std::move(module)));
}

constexpr luaL_Reg kModuleMethods[] = {
    {"append", native<append>},
    {"apply", native<apply>},
    {"bfloat16", native<cast_to<DType::bfloat16>>},
    {"buffers", native<buffers>},
    {"children", native<children>},
    {"cpu", native<cpu>},
    {"cuda", native<cuda>},
    {"double", native<cast_to<DType::float64>>},
    {"eval", native<eval>},
    {"float", native<cast_to<DType::float32>>},
    {"forward", native<forward>},
    {"half", native<cast_to<DType::float16>>},
    {"load_state_dict", native<load_state_dict>},
    {"modules", native<modules>},
    {"named_buffers", native<named_buffers>},
    {"named_children", native<named_children>},
    {"named_modules", native<named_modules>},
    {"named_parameters", native<named_parameters>},
    {"no_sync", native<no_sync>},
    {"parameters", native<parameters>},
    {"register_buffer", native<register_buffer>},
    {"flatten_parameters", native<flatten_parameters>},
    {"requires_grad_", native<set_requires_grad>},
    {"state_dict", native<state_dict>},
    {"to", native<to>},
    {"train", native<train>},
    {"zero_grad", native<zero_grad>},
};

}  // namespace

std::span<const luaL_Reg> module_methods() { return kModuleMethods; }

}  // namespace ohm::lua
