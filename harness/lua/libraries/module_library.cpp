#include "harness/lua/libraries/module_library.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "allocator_shim/base/assert.h"
#include "harness/lua/bind/arguments.h"
#include "harness/lua/bind/module_fields.h"
#include "harness/lua/bind/module_handle.h"
#include "harness/lua/bind/native.h"
#include "harness/lua/bind/numbered_functions.h"
#include "harness/lua/bind/op_arguments.h"
#include "harness/lua/bind/op_functions.h"
#include "harness/lua/bind/parameter_handle.h"
#include "harness/lua/bind/script_module.h"
#include "harness/lua/bind/tensor_handle.h"
#include "harness/lua/vm/interpreter.h"
#include "harness/lua/vm/push_text.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/variable.h"
#include "runtime/nn/registry.h"
#include "runtime/nn/sequential.h"
#include "runtime/nn/transformer.h"
#include "runtime/nn/transformer_decoder.h"
#include "runtime/ops/shape/rearrange.h"

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

// The name of the op's function at `index` takes its place; false where there is none.
bool replace_by_name(lua_State* L, int index) {
  const std::string_view name =
      lua_iscfunction(L, index) != 0 ? op_name_of(lua_tocfunction(L, index)) : std::string_view();
  if (name.empty()) return false;
  push_text(L, name);
  lua_replace(L, index);
  return true;
}

// `activation = F.gelu`: the function stands for its name. The script's table stays as it is.
void replace_functions_by_names(lua_State* L) {
  const int last = lua_gettop(L);
  for (int i = 1; i <= last; ++i) replace_by_name(L, i);
  if (last == 0 || lua_type(L, last) != LUA_TTABLE) return;
  lua_newtable(L);
  const int named = lua_gettop(L);
  bool has_function = false;
  for (lua_pushnil(L); lua_next(L, last) != 0;) {
    has_function = replace_by_name(L, lua_gettop(L)) || has_function;
    lua_pushvalue(L, -2);
    lua_insert(L, -2);
    lua_rawset(L, named);
  }
  if (has_function) lua_copy(L, named, last);
  lua_settop(L, last);
}

int make_registered_module(lua_State* L, std::size_t number) {
  const nn::ModuleDef& row = nn::all_modules()[number];
  replace_functions_by_names(L);
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

std::shared_ptr<ScriptModule> new_container(lua_State* L, const char* type_name) {
  const auto kind = std::make_shared<ScriptClass>(ScriptClass{type_name, nullptr});
  return std::make_shared<ScriptModule>(Interpreter::of(L), kind);
}

int module_list(lua_State* L) {
  const auto list = new_container(L, "ModuleList");
  for (const ModulePtr& module : modules_arguments(L, {"ModuleList", "module"})) {
    list->add_child(std::to_string(list->children().size()), module);
  }
  push_module(L, list);
  return 1;
}

// Calls add(name) for each entry of the table at index 1, its value on top of the stack: a list of
// pairs has an order of its own, names go by their bytes.
template <class Add>
void for_each_entry(lua_State* L, const ArgumentName& name, const Add& add) {
  if (lua_isnoneornil(L, 1)) return;
  if (lua_type(L, 1) != LUA_TTABLE) refuse_argument(L, 1, name, "a table");
  const auto pairs = static_cast<lua_Integer>(lua_rawlen(L, 1));
  for (lua_Integer i = 1; i <= pairs; ++i) {
    if (lua_rawgeti(L, 1, i) != LUA_TTABLE) refuse_argument(L, -1, name, "a list of pairs");
    lua_rawgeti(L, -1, 1);
    const std::string key(string_argument(L, -1, name));
    lua_rawgeti(L, -2, 2);
    add(key);
    lua_pop(L, 3);
  }
  if (pairs > 0) return;
  std::vector<std::string> keys;
  for (lua_pushnil(L); lua_next(L, 1) != 0; lua_pop(L, 1)) {
    keys.emplace_back(string_argument(L, -2, name));
  }
  std::sort(keys.begin(), keys.end());
  for (const std::string& key : keys) {
    lua_getfield(L, 1, key.c_str());
    add(key);
    lua_pop(L, 1);
  }
}

// ModuleDict{name = module, …}, or {{name, module}, …} in their order.
int module_dict(lua_State* L) {
  constexpr ArgumentName kModulesName{"ModuleDict", "modules"};
  const auto dict = new_container(L, "ModuleDict");
  for_each_entry(L, kModulesName, [&](const std::string& key) {
    dict->add_child(key, module_argument(L, lua_gettop(L), kModulesName));
  });
  push_module(L, dict);
  return 1;
}

ModulePtr norm_argument(lua_State* L, const NamedArguments& named, std::string_view name) {
  if (!named.push("norm")) return nullptr;
  ModulePtr norm = module_argument(L, lua_gettop(L), {name, "norm"});
  lua_pop(L, 1);
  return norm;
}

// TransformerEncoder(layer, num_layers, {norm, enable_nested_tensor, mask_check}).
int transformer_encoder(lua_State* L) {
  constexpr std::string_view kName = "TransformerEncoder";
  const ModulePtr layer = module_argument(L, 1, {kName, "encoder_layer"});
  const std::int64_t count = integer_argument(L, 2, {kName, "num_layers"});
  const NamedArguments named(L, kName);
  constexpr std::string_view kNames[] = {"enable_nested_tensor", "mask_check", "norm"};
  named.check_names(kNames);
  const nn::TransformerEncoderOptions options{named.boolean("enable_nested_tensor", true),
                                              named.boolean("mask_check", true)};
  push_module(L, std::make_shared<nn::TransformerEncoder>(*layer, count,
                                                          norm_argument(L, named, kName), options));
  return 1;
}

// TransformerDecoder(layer, num_layers, {norm}).
int transformer_decoder(lua_State* L) {
  constexpr std::string_view kName = "TransformerDecoder";
  const ModulePtr layer = module_argument(L, 1, {kName, "decoder_layer"});
  const std::int64_t count = integer_argument(L, 2, {kName, "num_layers"});
  const NamedArguments named(L, kName);
  constexpr std::string_view kNames[] = {"norm"};
  named.check_names(kNames);
  push_module(
      L, std::make_shared<nn::TransformerDecoder>(*layer, count, norm_argument(L, named, kName)));
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
    {"ModuleDict", native<module_dict>},
    {"ModuleList", native<module_list>},
    {"Parameter", native<parameter>},
    {"Sequential", native<sequential>},
    {"TransformerDecoder", native<transformer_decoder>},
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

// nn.Transformer.generate_square_subsequent_mask(size, {device, dtype}): -inf where a place would
// see a later one.
int generate_square_subsequent_mask(lua_State* L) {
  const NamedArguments named(L, "generate_square_subsequent_mask");
  named.check_names(std::vector<std::string_view>{"device", "dtype"});
  const std::int64_t size = integer_argument(L, 1, {named.function(), "sz"});
  const TensorOptions options{named.dtype("dtype", DType::float32),
                              named.device("device", Device::cpu())};
  const Tensor filled = full({size, size}, -std::numeric_limits<double>::infinity(), options);
  push_tensor(L, ops::triu(filled, 1));
  return 1;
}

// What is called is the function in the upvalue; the class itself is none of its arguments.
int call_constructor(lua_State* L) {
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_replace(L, 1);
  lua_call(L, lua_gettop(L) - 1, 1);
  return 1;
}

// The constructor on top of the stack, as a class with a function of its own.
void make_transformer_class(lua_State* L) {
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, native<generate_square_subsequent_mask>);
  lua_setfield(L, -2, "generate_square_subsequent_mask");
  lua_createtable(L, 0, 2);
  lua_rotate(L, -3, -1);
  lua_pushcclosure(L, call_constructor, 1);
  lua_setfield(L, -2, "__call");
  lua_pushboolean(L, 0);
  lua_setfield(L, -2, "__metatable");
  lua_setmetatable(L, -2);
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
  if (name == "Transformer") make_transformer_class(L);
  return true;
}

std::vector<std::string> module_constructor_names() {
  std::vector<std::string> names = {"Module"};
  for (const nn::ModuleDef& row : nn::all_modules()) names.emplace_back(row.name);
  return names;
}

}  // namespace ohm::lua
