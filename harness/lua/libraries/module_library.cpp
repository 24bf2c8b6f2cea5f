#include "harness/lua/libraries/module_library.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <utility>

#include "allocator_shim/base/assert.h"
#include "harness/lua/bind/module_fields.h"
#include "harness/lua/bind/module_handle.h"
#include "harness/lua/bind/native.h"
#include "harness/lua/bind/numbered_functions.h"
#include "harness/lua/bind/op_arguments.h"
#include "harness/lua/bind/parameter_handle.h"
#include "harness/lua/bind/script_module.h"
#include "harness/lua/bind/tensor_handle.h"
#include "harness/lua/vm/interpreter.h"
#include "runtime/autograd/variable.h"
#include "runtime/nn/registry.h"
#include "runtime/nn/sequential.h"
#include "runtime/nn/transformer.h"

namespace ohm::lua {

using ScriptClassPtr = std::shared_ptr<ScriptClass>;

template <>
struct HandleOf<ScriptClassPtr> {
  static const HandleClass kClass;
};

const HandleClass HandleOf<ScriptClassPtr>::kClass = {"class", {}};

namespace {

using nn::ModulePtr;

// ---- the registry's modules ---------------------------------------------------------------------

// What a module was made with is there as its attributes: linear.in_features. Not lists, which
// could be changed, nor what has a parameter's name.
void note_options(nn::Module& module, std::span<const ops::Param> params,
                  std::span<const nn::Value> values) {
  for (std::size_t i = 0; i < params.size(); ++i) {
    const nn::Value& value = values[i];
    const bool is_plain =
        std::holds_alternative<std::int64_t>(value) || std::holds_alternative<double>(value) ||
        std::holds_alternative<bool>(value) || std::holds_alternative<std::string>(value);
    if (!is_plain || params[i].name == "bias") continue;
    module.attributes().push_back({std::string(params[i].name), value, /*is_option=*/true});
  }
}

int make_registered_module(lua_State* L, std::size_t number) {
  const nn::ModuleDef& row = nn::all_modules()[number];
  const std::vector<nn::Value> values = read_parameters(L, row.name, row.params);
  const ModulePtr module = row.make(values);
  note_options(*module, row.params, values);
  push_module(L, module);
  return 1;
}

constexpr auto kModuleConstructors = numbered_functions<make_registered_module, 256>();

// ---- modules made of modules --------------------------------------------------------------------

int sequential(lua_State* L) {
  push_module(L, std::make_shared<nn::Sequential>(modules_arguments(L, {"Sequential", "module"})));
  return 1;
}

int module_list(lua_State* L) {
  const auto kind = std::make_shared<ScriptClass>(ScriptClass{"ModuleList", nullptr});
  const auto list = std::make_shared<ScriptModule>(Interpreter::of(L), kind);
  for (const ModulePtr& module : modules_arguments(L, {"ModuleList", "module"})) {
    list->add_child(std::to_string(list->children().size()), module);
  }
  push_module(L, list);
  return 1;
}

// TransformerEncoder(layer, num_layers, {norm, enable_nested_tensor}): tensors are never nested.
int transformer_encoder(lua_State* L) {
  const ModulePtr layer = module_argument(L, 1, {"TransformerEncoder", "encoder_layer"});
  const std::int64_t count = integer_argument(L, 2, {"TransformerEncoder", "num_layers"});
  ModulePtr norm;
  const NamedArguments named(L, "TransformerEncoder");
  constexpr std::string_view kNames[] = {"enable_nested_tensor", "norm"};
  named.check_names(kNames);
  if (named.push("norm")) {
    norm = module_argument(L, lua_gettop(L), {"TransformerEncoder", "norm"});
    lua_pop(L, 1);
  }
  push_module(L, std::make_shared<nn::TransformerEncoder>(*layer, count, std::move(norm)));
  return 1;
}

// Parameter(tensor, {requires_grad}): shares the tensor's memory, as PyTorch's does.
int parameter(lua_State* L) {
  const NamedArguments named(L, "Parameter");
  constexpr std::string_view kNames[] = {"requires_grad"};
  named.check_names(kNames);
  const Tensor data = detach(tensor_argument(L, 1, {"Parameter", "data"}));
  data.storage().set_category(Category::parameter);
  data.set_requires_grad(named.boolean("requires_grad", true));
  push_parameter(L, data);
  return 1;
}

constexpr luaL_Reg kModuleFunctions[] = {
    {"ModuleList", native<module_list>},
    {"Parameter", native<parameter>},
    {"Sequential", native<sequential>},
    {"TransformerEncoder", native<transformer_encoder>},
};

// ---- classes of the script ----------------------------------------------------------------------

// The class of the table at `index`: its metatable holds it.
ScriptClassPtr class_of(lua_State* L, int index) {
  lua_getmetatable(L, index);
  lua_getfield(L, -1, "class");
  const ScriptClassPtr* kind = test_handle<ScriptClassPtr>(L, -1);
  if (kind == nullptr || !*kind)
    throw std::invalid_argument("[Module] the metatable of the class was changed");
  lua_pop(L, 2);
  return *kind;
}

// Class(…): a new module, set up by the class's __init.
int construct_module(lua_State* L) {
  const auto module = std::make_shared<ScriptModule>(Interpreter::of(L), class_of(L, 1));
  push_module(L, module);
  const int instance = lua_gettop(L);
  if (module->push_function(L, "__init")) {
    lua_pushvalue(L, instance);
    for (int index = 2; index < instance; ++index) lua_pushvalue(L, index);
    lua_call(L, instance - 1, 0);
  }
  lua_settop(L, instance);
  return 1;
}

// Class:extend([name]): a class whose functions are looked up in its parent's after its own.
int extend_module(lua_State* L) {
  if (lua_type(L, 1) != LUA_TTABLE) refuse_argument(L, 1, {"extend", "self"}, "a class");
  const std::string name =
      lua_isnoneornil(L, 2) ? "Module" : std::string(string_argument(L, 2, {"extend", "name"}));
  lua_newtable(L);
  const int functions = lua_gettop(L);
  lua_pushvalue(L, functions);
  const auto kind =
      std::make_shared<ScriptClass>(ScriptClass{name, std::make_shared<Reference>(L)});
  lua_createtable(L, 0, 4);
  push_handle<ScriptClassPtr>(L, kind);
  lua_setfield(L, -2, "class");
  lua_pushvalue(L, 1);
  lua_setfield(L, -2, "__index");
  lua_pushcfunction(L, native<construct_module>);
  lua_setfield(L, -2, "__call");
  lua_pushboolean(L, 0);
  lua_setfield(L, -2, "__metatable");
  Interpreter::of(L).lifetimes().before_metatable(L, functions, -1);
  lua_setmetatable(L, functions);
  lua_settop(L, functions);
  return 1;
}

std::vector<std::string> field_names(lua_State* L, int table) {
  std::vector<std::string> names;
  for (lua_pushnil(L); lua_next(L, table) != 0; lua_pop(L, 1)) {
    if (lua_type(L, -2) != LUA_TSTRING) {
      throw std::invalid_argument("[Module] fields must be named: {fc = nn.Linear(2, 2), …}");
    }
    names.emplace_back(lua_tostring(L, -2));
  }
  std::sort(names.begin(), names.end());
  return names;
}

// nn.Module{…}: a module with the fields of the table.
int module_of_table(lua_State* L) {
  if (lua_type(L, 2) != LUA_TTABLE) refuse_argument(L, 2, {"Module", "fields"}, "a table");
  const auto kind = std::make_shared<ScriptClass>(ScriptClass{"Module", nullptr});
  const auto module = std::make_shared<ScriptModule>(Interpreter::of(L), kind);
  for (const std::string& name : field_names(L, 2)) {
    lua_getfield(L, 2, name.c_str());
    set_module_field(L, *module, name, lua_gettop(L));
    lua_pop(L, 1);
  }
  push_module(L, module);
  return 1;
}

void push_base_class(lua_State* L) {
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, native<extend_module>);
  lua_setfield(L, -2, "extend");
  lua_createtable(L, 0, 2);
  lua_pushcfunction(L, native<module_of_table>);
  lua_setfield(L, -2, "__call");
  lua_pushboolean(L, 0);
  lua_setfield(L, -2, "__metatable");
  lua_setmetatable(L, -2);
}

}  // namespace

std::span<const luaL_Reg> module_functions() { return kModuleFunctions; }

bool push_module_constructor(lua_State* L, std::string_view name) {
  if (name == "Module") {
    push_base_class(L);
    return true;
  }
  const auto& rows = nn::all_modules();
  const auto row = std::find_if(rows.begin(), rows.end(),
                                [&](const nn::ModuleDef& known) { return known.name == name; });
  if (row == rows.end()) return false;
  OHM_ASSERT(rows.size() <= kModuleConstructors.size(), "more modules than numbered functions");
  lua_pushcfunction(L, kModuleConstructors[static_cast<std::size_t>(row - rows.begin())]);
  return true;
}

std::vector<std::string> module_constructor_names() {
  std::vector<std::string> names = {"Module"};
  for (const nn::ModuleDef& row : nn::all_modules()) names.emplace_back(row.name);
  return names;
}

}  // namespace ohm::lua
