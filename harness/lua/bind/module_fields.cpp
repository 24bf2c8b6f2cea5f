#include "harness/lua/bind/module_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <any>
#include <memory>
#include <stdexcept>
#include <utility>

#include "harness/lua/bind/module_handle.h"
#include "harness/lua/bind/parameter_handle.h"
#include "harness/lua/bind/reference.h"
#include "harness/lua/bind/script_module.h"
#include "harness/lua/bind/tensor_handle.h"

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

void push_attribute(lua_State* L, const std::any& value) {
  if (const auto* reference = std::any_cast<ReferencePtr>(&value)) {
    (*reference)->push(L);
  } else {
    push_value(L, std::any_cast<const Value&>(value));
  }
}

void set_attribute(Module& module, std::string_view name, std::any value) {
  auto& attributes = module.attributes();
  const auto known = find_named(attributes, name);
  if (known != attributes.end()) {
    known->value = std::move(value);
  } else {
    attributes.push_back({std::string(name), std::move(value)});
  }
}

void set_child(Module& module, std::string_view name, const ModulePtr& child) {
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
        fmt::format("module '{}' cannot be removed: replace it with nn.Identity()", name));
  }
}

}  // namespace

bool push_module_field(lua_State* L, Module& module, std::string_view name) {
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

std::vector<std::string> module_field_names(Module& module) {
  std::vector<std::string> names;
  for (const auto& entry : module.children()) names.push_back(entry.name);
  for (const auto& entry : module.own_parameters()) names.push_back(entry.name);
  for (const auto& entry : module.own_buffers()) names.push_back(entry.name);
  for (const auto& entry : module.attributes()) names.push_back(entry.name);
  return names;
}

}  // namespace ohm::lua
