#include "harness/lua/bind/module_metatable.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "allocator_shim/base/nearest_name.h"
#include "harness/lua/bind/methods.h"
#include "harness/lua/bind/module_fields.h"
#include "harness/lua/bind/module_handle.h"
#include "harness/lua/bind/native.h"
#include "harness/lua/bind/packed_sequence_handle.h"
#include "harness/lua/bind/script_hooks.h"
#include "harness/lua/bind/script_module.h"
#include "harness/lua/bind/tensor_handle.h"
#include "harness/lua/vm/push_text.h"
#include "runtime/nn/module_walk.h"

namespace ohm::lua {
namespace {

using nn::Module;
using nn::ModulePtr;
using nn::Value;

// ---- fields -------------------------------------------------------------------------------------

lua_Integer count_entries(const Module& module) {
  return static_cast<lua_Integer>(module.children().size());
}

// module[i]: its i-th child, counted from 1 as in a list; nil behind the last one.
int push_child(lua_State* L, const Module& module, lua_Integer number) {
  if (number < 1 || number > count_entries(module)) return 0;
  push_module(L, module.children()[static_cast<std::size_t>(number - 1)].module);
  return 1;
}

[[noreturn]] void refuse_field(Module& module, std::string_view name,
                               std::span<const luaL_Reg> methods) {
  std::vector<std::string> known = {"training"};
  for (std::string& field : module_field_names(module)) known.push_back(std::move(field));
  for (const luaL_Reg& method : methods) known.emplace_back(method.name);
  throw std::invalid_argument(
      fmt::format("[{}] has no '{}'{}", module.type_name(), name, did_you_mean(name, known)));
}

int index_module(lua_State* L) {
  const ModulePtr& module = module_argument(L, 1, {"module", "self"});
  if (lua_isinteger(L, 2) != 0) return push_child(L, *module, lua_tointeger(L, 2));
  const std::string_view name = string_argument(L, 2, {"module", "name"});
  if (push_module_field(L, *module, name)) return 1;
  const auto* script = dynamic_cast<const ScriptModule*>(module.get());
  if (script != nullptr && script->push_function(L, name)) return 1;
  const std::span<const luaL_Reg> methods = methods_of(L, HandleOf<ModulePtr>::kClass);
  if (const lua_CFunction method = find_method(methods, name)) {
    lua_pushcfunction(L, method);
    return 1;
  }
  if (name != "training") refuse_field(*module, name, methods);
  lua_pushboolean(L, module->is_training());
  return 1;
}

int set_field(lua_State* L) {
  const ModulePtr module = module_argument(L, 1, {"module", "self"});
  set_module_field(L, *module, string_argument(L, 2, {"module", "name"}), 3);
  return 0;
}

// ---- calling ------------------------------------------------------------------------------------

// The arguments stay in this frame until the call is over, as in the frames of PyTorch's own
// __call__: a block's input lives while the block runs, whatever the block does with its variable.
int call_script_module(lua_State* L, ScriptModule& module) {
  const int arguments = lua_gettop(L);
  luaL_checkstack(L, arguments + LUA_MINSTACK, nullptr);
  module.push_forward(L);
  for (int index = 1; index <= arguments; ++index) lua_pushvalue(L, index);
  lua_call(L, arguments, LUA_MULTRET);
  // What forward's variables held goes when it returns, before the caller's variable changes.
  Interpreter::of(L).collect(L);
  return lua_gettop(L) - arguments;
}

int call_hooked_module(lua_State* L, ScriptModule& module, ScriptHooks& hooks) {
  const ScriptHooks::BackwardHookPtr backward = hooks.before_call(L);
  const int inputs = lua_gettop(L);
  luaL_checkstack(L, inputs + LUA_MINSTACK, nullptr);
  module.push_forward(L);
  for (int index = 1; index < inputs; ++index) lua_pushvalue(L, index);
  lua_call(L, inputs - 1, LUA_MULTRET);
  hooks.after_call(L, inputs, backward);
  Interpreter::of(L).collect(L);
  return lua_gettop(L) - inputs;
}

// A last argument that is nil is one that is left out, as None is: rnn(x, state) before the first
// state.
void drop_absent(std::vector<Value>& inputs) {
  while (inputs.size() > 1 && std::holds_alternative<std::monostate>(inputs.back())) {
    inputs.pop_back();
  }
}

// The arguments by position, then those of a last table by their names.
std::vector<Value> inputs_of_call(lua_State* L, const Module& module) {
  const std::span<const std::string_view> names = module.input_names();
  const int arguments = lua_gettop(L);
  const bool has_names = !names.empty() && arguments > 1 && is_named_table(L, arguments);
  std::vector<Value> inputs;
  for (int index = 2; index <= arguments - (has_names ? 1 : 0); ++index) {
    inputs.push_back(call_argument(L, index, {module.type_name(), "input"}));
  }
  drop_absent(inputs);
  if (!has_names) return inputs;
  const NamedArguments named(L, module.type_name(), arguments);
  named.check_names(names);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!named.push(names[i])) continue;
    if (i < inputs.size()) {
      throw std::invalid_argument(
          fmt::format("[{}] argument '{}' is given twice", module.type_name(), names[i]));
    }
    inputs.resize(i);
    inputs.push_back(call_argument(L, -1, {module.type_name(), names[i]}));
    lua_pop(L, 1);
  }
  return inputs;
}

int call_script_or_hooks(lua_State* L, ScriptModule& module) {
  const auto hooks = std::dynamic_pointer_cast<ScriptHooks>(module.hooks());
  module.recompute_parameters();
  return hooks ? call_hooked_module(L, module, *hooks) : call_script_module(L, module);
}

int call_module(lua_State* L) {
  const ModulePtr module = module_argument(L, 1, {"module", "self"});
  auto* script = dynamic_cast<ScriptModule*>(module.get());
  if (script != nullptr) return call_script_or_hooks(L, *script);
  if (const std::optional<int> results = call_with_packed_sequence(L, *module)) return *results;
  const int arguments = lua_gettop(L);
  const std::vector<Value> inputs = inputs_of_call(L, *module);
  const Value result = module->call(inputs);
  // A list stays one value, so that it can be handed on whole: `criterion(model(x), y)`.
  if (!std::holds_alternative<std::vector<Tensor>>(result)) {
    return push_result(L, result, arguments);
  }
  push_call_argument(L, result);
  return 1;
}

int count_children(lua_State* L) {
  const ModulePtr& module = module_argument(L, 1, {"module", "self"});
  lua_pushinteger(L, count_entries(*module));
  return 1;
}

int is_same_module(lua_State* L) {
  const ModulePtr* a = test_handle<ModulePtr>(L, 1);
  const ModulePtr* b = test_handle<ModulePtr>(L, 2);
  lua_pushboolean(L, a != nullptr && b != nullptr && *a == *b);
  return 1;
}

// As PyTorch prints them: a line for each child, indented. What is nested too deep to be called is
// too long to be read.
std::string text_of(const Module& module, int level) {
  if (level > Module::kMostNestedCalls) {
    throw std::invalid_argument(
        fmt::format("[{}] modules that are nested more than {} deep have no text",
                    module.type_name(), Module::kMostNestedCalls));
  }
  std::string text(module.type_name());
  if (module.children().empty()) return text + "()";
  const std::string indent(static_cast<std::size_t>(2 * level), ' ');
  text += "(\n";
  for (const nn::NamedModule& child : module.children()) {
    text += fmt::format("{}  ({}): {}\n", indent, child.name, text_of(*child.module, level + 1));
  }
  return text + indent + ")";
}

int module_text(lua_State* L) {
  const std::string text = text_of(*module_argument(L, 1, {"module", "self"}), 0);
  push_text(L, text);
  return 1;
}

constexpr luaL_Reg kModuleMetamethods[] = {
    {"__call", native<call_module>},
    {"__eq", native<is_same_module, Entry::access>},
    {"__index", native<index_module, Entry::access>},
    {"__len", native<count_children, Entry::access>},
    {"__newindex", native<set_field, Entry::operator_call>},
    {"__tostring", native<module_text, Entry::access>},
};

}  // namespace

std::span<const luaL_Reg> module_metamethods() { return kModuleMetamethods; }

bool is_calling_module(lua_CFunction function) { return function == &native<call_module>; }

}  // namespace ohm::lua
