#include "harness/lua/module_handle.h"

#include <fmt/format.h>

#include <algorithm>
#include <any>
#include <stdexcept>
#include <string>
#include <utility>

#include "allocator_shim/base/nearest_name.h"
#include "harness/lua/hook_library.h"
#include "harness/lua/module_methods.h"
#include "harness/lua/native.h"
#include "harness/lua/parameter_handle.h"
#include "harness/lua/script_module.h"
#include "harness/lua/tensor_handle.h"

namespace ohm::lua {
namespace {

using nn::Module;
using nn::ModulePtr;
using nn::Value;

template <class Entry>
auto find_named(std::vector<Entry>& entries, std::string_view name) {
  return std::find_if(entries.begin(), entries.end(),
                      [&](const Entry& entry) { return entry.name == name; });
}
template <class Entry>
auto find_named(const std::vector<Entry>& entries, std::string_view name) {
  return std::find_if(entries.begin(), entries.end(),
                      [&](const Entry& entry) { return entry.name == name; });
}

constexpr char kModuleHandles = 0;  // its address is the registry's key

// A set of all handles of modules, which keeps none of them.
void push_module_handles(lua_State* L) {
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &kModuleHandles) == LUA_TTABLE) return;
  lua_pop(L, 1);
  lua_newtable(L);
  lua_createtable(L, 0, 1);
  lua_pushliteral(L, "k");
  lua_setfield(L, -2, "__mode");
  lua_setmetatable(L, -2);
  lua_pushvalue(L, -1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &kModuleHandles);
}

// ---- reading ------------------------------------------------------------------------------------

void push_attribute(lua_State* L, const std::any& value) {
  if (const auto* reference = std::any_cast<ReferencePtr>(&value)) {
    (*reference)->push(L);
  } else {
    push_value(L, std::any_cast<const Value&>(value));
  }
}

bool push_own_field(lua_State* L, Module& module, std::string_view name) {
  if (const auto it = find_named(module.children(), name); it != module.children().end()) {
    push_module(L, it->module);
    return true;
  }
  const auto& parameters = module.own_parameters();
  if (const auto it = find_named(parameters, name); it != parameters.end()) {
    push_parameter(L, it->tensor);
    return true;
  }
  if (const auto it = find_named(module.own_buffers(), name); it != module.own_buffers().end()) {
    push_tensor(L, it->tensor);
    return true;
  }
  const auto attribute = find_named(module.attributes(), name);
  if (attribute == module.attributes().end()) return false;
  push_attribute(L, attribute->value);
  return true;
}

// module[i]: its i-th child, counted from 1 as in a list; nil behind the last one.
int push_child(lua_State* L, const Module& module, lua_Integer number) {
  const auto count = static_cast<lua_Integer>(module.children().size());
  if (number < 1 || number > count) return 0;
  push_module(L, module.children()[static_cast<std::size_t>(number - 1)].module);
  return 1;
}

[[noreturn]] void refuse_field(Module& module, std::string_view name) {
  std::vector<std::string> known = {"training"};
  for (const auto& entry : module.children()) known.push_back(entry.name);
  for (const auto& entry : module.own_parameters()) known.push_back(entry.name);
  for (const auto& entry : module.own_buffers()) known.push_back(entry.name);
  for (const auto& entry : module.attributes()) known.push_back(entry.name);
  for (const luaL_Reg& method : module_methods()) known.emplace_back(method.name);
  throw std::invalid_argument(
      fmt::format("[{}] has no '{}'{}", module.type_name(), name, did_you_mean(name, known)));
}

int index_module(lua_State* L) {
  const ModulePtr& module = module_argument(L, 1, {"module", "self"});
  if (lua_isinteger(L, 2) != 0) return push_child(L, *module, lua_tointeger(L, 2));
  const std::string_view name = string_argument(L, 2, {"module", "name"});
  if (push_own_field(L, *module, name)) return 1;
  const auto* script = dynamic_cast<const ScriptModule*>(module.get());
  if (script != nullptr && script->push_function(L, name)) return 1;
  for (const luaL_Reg& method : module_methods()) {
    if (name != method.name) continue;
    lua_pushcfunction(L, method.func);
    return 1;
  }
  if (name != "training") refuse_field(*module, name);
  lua_pushboolean(L, module->is_training());
  return 1;
}

// ---- writing ------------------------------------------------------------------------------------

void set_attribute(Module& module, std::string_view name, std::any value) {
  auto& attributes = module.attributes();
  const auto known = find_named(attributes, name);
  if (known != attributes.end()) {
    known->value = std::move(value);
  } else {
    attributes.push_back({std::string(name), std::move(value)});
  }
}

bool contains(const Module& outer, const Module& inner) {
  if (&outer == &inner) return true;
  const auto& children = outer.children();
  return std::any_of(children.begin(), children.end(),
                     [&inner](const auto& entry) { return contains(*entry.module, inner); });
}

void set_child(Module& module, std::string_view name, const ModulePtr& child) {
  if (contains(*child, module)) {
    throw std::invalid_argument(
        fmt::format("[{}] '{}' would make the module contain itself", module.type_name(), name));
  }
  const auto known = find_named(module.children(), name);
  if (known != module.children().end()) {
    return module.set_child(static_cast<std::size_t>(known - module.children().begin()), child);
  }
  auto* script = dynamic_cast<ScriptModule*>(&module);
  if (script == nullptr) {
    throw std::invalid_argument(
        fmt::format("[{}] has no module '{}' that could be replaced", module.type_name(), name));
  }
  script->add_child(std::string(name), child);
}

// Whether there is a parameter or buffer of this name, which is the tensor now.
bool replace_tensor(Module& module, std::string_view name, const Tensor& tensor) {
  const auto& parameters = module.own_parameters();
  if (const auto it = find_named(parameters, name); it != parameters.end()) {
    module.set_own_parameter(static_cast<std::size_t>(it - parameters.begin()), tensor);
    return true;
  }
  const auto& buffers = module.own_buffers();
  const auto it = find_named(buffers, name);
  if (it == buffers.end()) return false;
  module.set_own_buffer(static_cast<std::size_t>(it - buffers.begin()), tensor);
  return true;
}

void set_tensor(lua_State* L, Module& module, std::string_view name, int index) {
  const Tensor& tensor = tensor_argument(L, index, {module.type_name(), name});
  if (replace_tensor(module, name, tensor)) return;
  auto* script = dynamic_cast<ScriptModule*>(&module);
  if (script != nullptr && is_parameter(L, index)) {
    script->add_parameter(std::string(name), tensor);
  } else {
    set_attribute(module, name, Value(tensor));
  }
}

void remove_field(Module& module, std::string_view name) {
  if (replace_tensor(module, name, Tensor())) return;
  auto& attributes = module.attributes();
  const auto known = find_named(attributes, name);
  if (known != attributes.end()) {
    attributes.erase(known);
  } else if (find_named(module.children(), name) != module.children().end()) {
    throw std::invalid_argument(
        fmt::format("module '{}' cannot be taken out: put nn.Identity() there", name));
  }
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
  hooks.before_call(L);
  const int inputs = lua_gettop(L);
  luaL_checkstack(L, inputs + LUA_MINSTACK, nullptr);
  module.push_forward(L);
  for (int index = 1; index < inputs; ++index) lua_pushvalue(L, index);
  lua_call(L, inputs - 1, LUA_MULTRET);
  hooks.after_call(L, inputs);
  Interpreter::of(L).collect(L);
  return lua_gettop(L) - inputs;
}

int call_module(lua_State* L) {
  const ModulePtr module = module_argument(L, 1, {"module", "self"});
  auto* script = dynamic_cast<ScriptModule*>(module.get());
  const auto hooks = std::dynamic_pointer_cast<ScriptHooks>(module->hooks());
  if (script != nullptr && hooks) return call_hooked_module(L, *script, *hooks);
  if (script != nullptr) return call_script_module(L, *script);
  const int arguments = lua_gettop(L);
  std::vector<Value> inputs;
  for (int index = 2; index <= arguments; ++index) {
    inputs.push_back(call_argument(L, index, {module->type_name(), "input"}));
  }
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
  lua_pushinteger(L, static_cast<lua_Integer>(module->children().size()));
  return 1;
}

int is_same_module(lua_State* L) {
  const ModulePtr* a = test_handle<ModulePtr>(L, 1);
  const ModulePtr* b = test_handle<ModulePtr>(L, 2);
  lua_pushboolean(L, a != nullptr && b != nullptr && *a == *b);
  return 1;
}

// As PyTorch prints them: a line for each child, indented.
std::string text_of(const Module& module, const std::string& indent) {
  std::string text(module.type_name());
  if (module.children().empty()) return text + "()";
  text += "(\n";
  for (const nn::NamedModule& child : module.children()) {
    text +=
        fmt::format("{}  ({}): {}\n", indent, child.name, text_of(*child.module, indent + "  "));
  }
  return text + indent + ")";
}

int module_text(lua_State* L) {
  const std::string text = text_of(*module_argument(L, 1, {"module", "self"}), "");
  lua_pushlstring(L, text.data(), text.size());
  return 1;
}

constexpr luaL_Reg kMetamethods[] = {
    {"__call", native<call_module>},
    {"__eq", native<is_same_module, Entry::access>},
    {"__index", native<index_module, Entry::access>},
    {"__len", native<count_children, Entry::access>},
    {"__newindex", native<set_field, Entry::access>},
    {"__tostring", native<module_text, Entry::access>},
};

}  // namespace

const HandleClass HandleOf<ModulePtr>::kClass = {"module", kMetamethods};

void push_module(lua_State* L, ModulePtr module) {
  push_handle<ModulePtr>(L, std::move(module));
  push_module_handles(L);
  lua_pushvalue(L, -2);
  lua_pushboolean(L, 1);
  lua_rawset(L, -3);
  lua_pop(L, 1);
}

void forget_dead_modules(lua_State* L) {
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &kModuleHandles) == LUA_TTABLE) {
    for (lua_pushnil(L); lua_next(L, -2) != 0; lua_pop(L, 1)) {
      if (*test_handle<ModulePtr>(L, -2)) continue;
      lua_pushvalue(L, -2);
      lua_pushnil(L);
      lua_rawset(L, -5);
    }
  }
  lua_pop(L, 1);
}

std::vector<ModulePtr> modules_with_handles(lua_State* L) {
  std::vector<ModulePtr> modules;
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &kModuleHandles) == LUA_TTABLE) {
    for (lua_pushnil(L); lua_next(L, -2) != 0; lua_pop(L, 1)) {
      if (const ModulePtr& module = *test_handle<ModulePtr>(L, -2)) modules.push_back(module);
    }
  }
  lua_pop(L, 1);
  std::sort(modules.begin(), modules.end());
  modules.erase(std::unique(modules.begin(), modules.end()), modules.end());
  return modules;
}

const ModulePtr& module_argument(lua_State* L, int index, const ArgumentName& name) {
  const ModulePtr* module = test_handle<ModulePtr>(L, index);
  if (module == nullptr || !*module) refuse_argument(L, index, name, "a module");
  return *module;
}

std::vector<ModulePtr> modules_arguments(lua_State* L, const ArgumentName& name) {
  if (lua_gettop(L) == 1 && lua_type(L, 1) == LUA_TTABLE) {
    const auto count = static_cast<int>(lua_rawlen(L, 1));
    luaL_checkstack(L, count + LUA_MINSTACK, "too many modules");
    for (int i = 1; i <= count; ++i) lua_rawgeti(L, 1, i);
    lua_remove(L, 1);
  }
  std::vector<ModulePtr> modules;
  for (int index = 1; index <= lua_gettop(L); ++index) {
    modules.push_back(module_argument(L, index, name));
  }
  return modules;
}

bool is_calling_module(lua_CFunction function) { return function == &native<call_module>; }

Value call_argument(lua_State* L, int index, const ArgumentName& name) {
  switch (lua_type(L, index)) {
    case LUA_TNIL:
      return {};
    case LUA_TBOOLEAN:
      return lua_toboolean(L, index) != 0;
    case LUA_TNUMBER:
      if (lua_isinteger(L, index) != 0) return std::int64_t{lua_tointeger(L, index)};
      return lua_tonumber(L, index);
    case LUA_TSTRING:
      return std::string(lua_tostring(L, index));
    case LUA_TTABLE:
      return value_argument(L, index, ops::ParamKind::tensor_list, name);
    default:
      return tensor_argument(L, index, name);
  }
}

void push_call_argument(lua_State* L, const Value& value) {
  if (std::holds_alternative<std::monostate>(value)) return lua_pushnil(L);
  const auto* tensors = std::get_if<std::vector<Tensor>>(&value);
  if (tensors == nullptr) {
    push_value(L, value);
    return;
  }
  lua_createtable(L, static_cast<int>(tensors->size()), 0);
  lua_Integer count = 0;
  for (const Tensor& tensor : *tensors) {
    push_tensor(L, tensor);
    lua_rawseti(L, -2, ++count);
  }
}

void set_module_field(lua_State* L, Module& module, std::string_view name, int index) {
  switch (lua_type(L, index)) {
    case LUA_TNIL:
      return remove_field(module, name);
    case LUA_TBOOLEAN:
    case LUA_TNUMBER:
    case LUA_TSTRING:
      return set_attribute(module, name, call_argument(L, index, {module.type_name(), name}));
    default:
      break;
  }
  if (test_handle<ModulePtr>(L, index) != nullptr) {
    set_child(module, name, module_argument(L, index, {module.type_name(), name}));
  } else if (handle_class(L, index) == &HandleOf<Tensor>::kClass) {
    set_tensor(L, module, name, index);
  } else {
    lua_pushvalue(L, index);
    set_attribute(module, name, ReferencePtr(std::make_shared<Reference>(L)));
  }
}

}  // namespace ohm::lua
