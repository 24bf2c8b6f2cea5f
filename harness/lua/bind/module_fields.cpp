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
#include "harness/lua/bind/temporaries.h"
#include "harness/lua/bind/tensor_handle.h"
#include "harness/lua/vm/interpreter.h"
#include "runtime/nn/reparametrization.h"

namespace ohm::lua {
namespace {

using nn::Module;
using nn::ModulePtr;
using nn::Value;

auto find_attribute(Module& module, std::string_view name) {
  auto& attributes = module.attributes();
  return std::find_if(attributes.begin(), attributes.end(),
                      [&](const nn::NamedAttribute& entry) { return entry.name == name; });
}

void push_attribute(lua_State* L, const std::any& value) {
  if (const auto* reference = std::any_cast<ReferencePtr>(&value)) {
    (*reference)->push(L);
  } else {
    push_value(L, std::any_cast<const Value&>(value));
  }
}

// An option that is set to what it is changes nothing.
bool is_same_option(const std::any& known, const Value* value) {
  const auto* const before = std::any_cast<Value>(&known);
  if (before == nullptr || value == nullptr || before->index() != value->index()) return false;
  const auto is_same = [&](auto kind) {
    using Kind = decltype(kind);
    const auto* const a = std::get_if<Kind>(before);
    return a != nullptr && *a == std::get<Kind>(*value);
  };
  return is_same(bool()) || is_same(std::int64_t()) || is_same(double()) || is_same(std::string());
}

[[noreturn]] void refuse_option(const Module& module, std::string_view name) {
  throw std::invalid_argument(fmt::format(
      "[{}] '{}' was read when the module was made, and cannot be changed: make another module",
      module.type_name(), name));
}

void set_attribute(Module& module, std::string_view name, std::any value) {
  auto& attributes = module.attributes();
  const auto known = find_attribute(module, name);
  if (known != attributes.end()) {
    const auto* const plain = std::any_cast<Value>(&value);
    if (known->is_option && is_same_option(known->value, plain)) return;
    if (known->is_option && (plain == nullptr || !module.set_option(name, *plain))) {
      refuse_option(module, name);
    }
    known->value = std::move(value);
  } else {
    attributes.push_back({std::string(name), std::move(value)});
  }
}

void set_child(Module& module, std::string_view name, const ModulePtr& child) {
  if (const auto known = module.find_child(name)) return module.set_child(*known, child);
  auto* script = dynamic_cast<ScriptModule*>(&module);
  if (script == nullptr) {
    throw std::invalid_argument(
        fmt::format("[{}] has no module '{}' that could be replaced", module.type_name(), name));
  }
  script->add_child(std::string(name), child);
}

bool holds_tensor(Module& module, std::string_view name) {
  if (const auto parameter = module.find_own_parameter(name)) {
    return module.own_parameters()[*parameter].tensor.defined();
  }
  if (const auto buffer = module.find_own_buffer(name)) {
    return module.own_buffers()[*buffer].tensor.defined();
  }
  const auto known = find_attribute(module, name);
  if (known == module.attributes().end()) return false;
  const auto* const value = std::any_cast<Value>(&known->value);
  return value != nullptr && std::holds_alternative<Tensor>(*value);
}

// Whether there is a parameter or buffer of this name, which is the tensor now.
bool replace_tensor(Module& module, std::string_view name, const Tensor& tensor) {
  if (const auto parameter = module.find_own_parameter(name)) {
    module.set_own_parameter(*parameter, tensor);
    return true;
  }
  const auto buffer = module.find_own_buffer(name);
  if (buffer) module.set_own_buffer(*buffer, tensor);
  return buffer.has_value();
}

void set_tensor(lua_State* L, Module& module, std::string_view name, int index) {
  const Tensor& tensor = tensor_argument(L, index, {module.type_name(), name});
  if (holds_tensor(module, name)) drop_temporaries(L);
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
  const auto known = find_attribute(module, name);
  if (known != attributes.end()) {
    if (known->is_option) refuse_option(module, name);
    attributes.erase(known);
  } else if (module.find_child(name)) {
    throw std::invalid_argument(
        fmt::format("module '{}' cannot be removed: replace it with nn.Identity()", name));
  }
}

}  // namespace

bool push_module_field(lua_State* L, Module& module, std::string_view name) {
  if (const auto child = module.find_child(name)) {
    push_module(L, module.children()[*child].module);
    return true;
  }
  if (const auto parameter = module.find_own_parameter(name)) {
    push_parameter(L, module.own_parameters()[*parameter].tensor);
    return true;
  }
  if (const auto buffer = module.find_own_buffer(name)) {
    push_tensor(L, module.own_buffers()[*buffer].tensor);
    return true;
  }
  const auto attribute = find_attribute(module, name);
  if (attribute != module.attributes().end()) {
    push_attribute(L, attribute->value);
    return true;
  }
  const nn::ComputedParameter* const computed = nn::find_computed(module, name);
  if (computed == nullptr) return false;
  Interpreter::of(L).collect(L);  // it allocates, as a call does
  push_tensor(L, computed->how->compute(module));
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
  for (const auto& entry : module.computed_parameters()) names.push_back(entry.name);
  return names;
}

}  // namespace ohm::lua
