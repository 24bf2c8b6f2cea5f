#include "harness/lua/bind/module_parts.h"

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "harness/lua/bind/arguments.h"
#include "harness/lua/bind/module_handle.h"
#include "harness/lua/bind/native.h"
#include "harness/lua/bind/parameter_handle.h"
#include "harness/lua/bind/script_module.h"
#include "harness/lua/bind/tensor_handle.h"
#include "runtime/nn/normalization.h"
#include "runtime/nn/sequential.h"

namespace ohm::lua {
namespace {

using nn::Module;
using nn::ModulePtr;

ModulePtr self_argument(lua_State* L, std::string_view method) {
  return module_argument(L, 1, {method, "self"});
}

// ---- found by name ------------------------------------------------------------------------------

// "a.b.c" below the module; the module itself for "".
ModulePtr submodule(ModulePtr module, std::string_view path, std::string_view method) {
  while (!path.empty()) {
    const std::string_view name = path.substr(0, path.find('.'));
    path.remove_prefix(name.size() == path.size() ? path.size() : name.size() + 1);
    const auto child = module->find_child(name);
    if (!child) {
      throw std::invalid_argument(
          fmt::format("[{}] {} has no attribute `{}`", method, module->type_name(), name));
    }
    module = module->children()[*child].module;
  }
  return module;
}

int get_submodule(lua_State* L) {
  constexpr std::string_view kName = "get_submodule";
  push_module(L,
              submodule(self_argument(L, kName), string_argument(L, 2, {kName, "target"}), kName));
  return 1;
}

/// A tensor of a module: what stands in front of the last dot of a path, and behind it.
struct Place {
  ModulePtr module;
  std::string_view name;
};

Place place_argument(lua_State* L, std::string_view method) {
  const std::string_view path = string_argument(L, 2, {method, "target"});
  const std::size_t dot = path.rfind('.');
  const bool is_own = dot == std::string_view::npos;
  return {submodule(self_argument(L, method), is_own ? "" : path.substr(0, dot), method),
          is_own ? path : path.substr(dot + 1)};
}

[[noreturn]] void refuse_place(const Place& place, std::string_view method) {
  throw std::invalid_argument(
      fmt::format("[{}] {} has no attribute `{}`", method, place.module->type_name(), place.name));
}

int get_parameter(lua_State* L) {
  const Place place = place_argument(L, "get_parameter");
  const auto found = place.module->find_own_parameter(place.name);
  if (!found) refuse_place(place, "get_parameter");
  push_parameter(L, place.module->own_parameters()[*found].tensor);
  return 1;
}

int get_buffer(lua_State* L) {
  const Place place = place_argument(L, "get_buffer");
  const auto found = place.module->find_own_buffer(place.name);
  if (!found) refuse_place(place, "get_buffer");
  push_tensor(L, place.module->own_buffers()[*found].tensor);
  return 1;
}

// ---- added --------------------------------------------------------------------------------------

std::string new_name(lua_State* L, const Module& module, std::string_view method) {
  const std::string_view name = string_argument(L, 2, {method, "name"});
  if (name.empty() || name.find('.') != std::string_view::npos) {
    throw std::invalid_argument(
        fmt::format("[{}] a name can't be empty or contain \".\", got: {}", method, name));
  }
  if (module.find_child(name) || module.find_own_parameter(name) || module.find_own_buffer(name)) {
    throw std::invalid_argument(fmt::format("[{}] attribute '{}' already exists", method, name));
  }
  return std::string(name);
}

int add_module(lua_State* L) {
  constexpr std::string_view kName = "add_module";
  const ModulePtr self = self_argument(L, kName);
  const std::string name = new_name(L, *self, kName);
  const ModulePtr child = module_argument(L, 3, {kName, "module"});
  if (auto* const script = dynamic_cast<ScriptModule*>(self.get())) {
    script->add_child(name, child);
  } else if (auto* const sequential = dynamic_cast<nn::Sequential*>(self.get())) {
    sequential->add_child(name, child);
  } else {
    throw std::invalid_argument(
        fmt::format("[{}] {} is made of the modules that it has", kName, self->type_name()));
  }
  return 0;
}

int register_parameter(lua_State* L) {
  constexpr std::string_view kName = "register_parameter";
  const ModulePtr self = self_argument(L, kName);
  auto* const script = dynamic_cast<ScriptModule*>(self.get());
  if (script == nullptr) {
    throw std::invalid_argument(
        fmt::format("[{}] only a module that the script defines can be extended", kName));
  }
  const std::string name = new_name(L, *self, kName);
  const bool is_left_out = lua_isnoneornil(L, 3);
  if (!is_left_out && !is_parameter(L, 3)) {
    refuse_argument(L, 3, {kName, "param"}, "an nn.Parameter, or nil");
  }
  script->add_parameter(name, is_left_out ? Tensor() : tensor_argument(L, 3, {kName, "param"}));
  return 0;
}

// ---- set back -----------------------------------------------------------------------------------

nn::ChannelNorm& channel_norm(const ModulePtr& module, std::string_view method) {
  auto* const layer = dynamic_cast<nn::ChannelNorm*>(module.get());
  if (layer != nullptr) return *layer;
  throw std::invalid_argument(fmt::format("[{}] expected a BatchNorm or an InstanceNorm, not {}",
                                          method, module->type_name()));
}

int reset_running_stats(lua_State* L) {
  constexpr std::string_view kName = "reset_running_stats";
  channel_norm(self_argument(L, kName), kName).reset_running_stats();
  return 0;
}

int reset_parameters(lua_State* L) {
  constexpr std::string_view kName = "reset_parameters";
  channel_norm(self_argument(L, kName), kName).reset_parameters();
  return 0;
}

constexpr luaL_Reg kPartMethods[] = {
    {"add_module", native<add_module>},
    {"get_buffer", native<get_buffer>},
    {"get_parameter", native<get_parameter>},
    {"get_submodule", native<get_submodule>},
    {"register_module", native<add_module>},
    {"register_parameter", native<register_parameter>},
    {"reset_parameters", native<reset_parameters>},
    {"reset_running_stats", native<reset_running_stats>},
};

}  // namespace

std::span<const luaL_Reg> module_part_methods() { return kPartMethods; }

}  // namespace ohm::lua
