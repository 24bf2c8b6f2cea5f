#include "harness/lua/inspect/editor_definitions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "harness/lua/bind/module_handle.h"
#include "harness/lua/bind/op_functions.h"
#include "harness/lua/bind/optimizer_handle.h"
#include "harness/lua/bind/tensor_handle.h"
#include "harness/lua/bind/tensor_metatable.h"
#include "harness/lua/libraries/libraries.h"
#include "harness/lua/libraries/library_table.h"
#include "harness/lua/libraries/script_bindings.h"
#include "reports/model/vocabulary.h"
#include "runtime/arithmetic/memory_format.h"
#include "runtime/base/dtype.h"
#include "runtime/nn/registry.h"
#include "runtime/ops/op_list.h"
#include "runtime/ops/synonyms.h"
#include "runtime/optim/registry.h"

namespace ohm::lua {
namespace {

constexpr std::array<std::string_view, 22> kKeywords = {
    "and",      "break",  "do",   "else", "elseif", "end",  "false", "for",
    "function", "goto",   "if",   "in",   "local",  "nil",  "not",   "or",
    "repeat",   "return", "then", "true", "until",  "while"};

bool is_keyword(std::string_view name) {
  return std::find(kKeywords.begin(), kKeywords.end(), name) != kKeywords.end();
}

std::string_view lua_type_of(ops::ParamKind kind) {
  switch (kind) {
    case ops::ParamKind::tensor:
      return "ohm.Tensor";
    case ops::ParamKind::tensor_or_number:
      return "ohm.Tensor|number";
    case ops::ParamKind::tensor_list:
      return "ohm.Tensor[]";
    case ops::ParamKind::number:
      return "number";
    case ops::ParamKind::integer:
      return "integer";
    case ops::ParamKind::boolean:
      return "boolean";
    case ops::ParamKind::size_list:
      return "integer|integer[]";
    case ops::ParamKind::sizes_or_word:
      return "integer|integer[]|string";
    case ops::ParamKind::number_list:
      return "number|number[]";
    case ops::ParamKind::string:
    case ops::ParamKind::dtype:
      return "string";
    case ops::ParamKind::device:
      break;
  }
  return "string|integer";
}

std::string parameter_name(const ops::Param& param) {
  return is_keyword(param.name) ? std::string(param.name) + "_" : std::string(param.name);
}

/// A function with known parameters; the first `skipped` are the object's own.
std::string described_function(std::string_view prefix, std::string_view name,
                               std::span<const ops::Param> params, std::size_t skipped,
                               std::string_view result) {
  std::string out;
  std::string list;
  for (const ops::Param& param : params.subspan(std::min(skipped, params.size()))) {
    const std::string spelled = parameter_name(param);
    out += fmt::format("---@param {}{} {}\n", spelled, param.is_optional ? "?" : "",
                       lua_type_of(param.kind));
    list += (list.empty() ? "" : ", ") + spelled;
  }
  return out + fmt::format("---@return {}\nfunction {}{}({}) end\n\n", result, prefix, name, list);
}

std::string plain_function(std::string_view prefix, std::string_view name) {
  return fmt::format("---@return any\nfunction {}{}(...) end\n\n", prefix, name);
}

// ---- libraries ----------------------------------------------------------------------------------

const std::vector<ops::Param>* constructor_parameters(const Library& library,
                                                      std::string_view name) {
  if (library.name == "ohm.nn") {
    for (const nn::ModuleDef& row : nn::all_modules()) {
      if (row.name == name) return &row.params;
    }
  }
  if (library.name == "ohm.optim") {
    for (const optim::OptimizerDef& row : optim::all_optimizers()) {
      if (row.name == name) return &row.params;
    }
  }
  return nullptr;
}

bool is_library(const std::string& name) {
  const auto all = libraries();
  return std::any_of(all.begin(), all.end(),
                     [&](const Library& known) { return known.name == name; });
}

bool is_named_constant(std::string_view name) {
  const bool is_dtype = std::any_of(kDTypes.begin(), kDTypes.end(),
                                    [&](const DTypeInfo& known) { return known.name == name; });
  return is_dtype ||
         std::find(kMemoryFormats.begin(), kMemoryFormats.end(), name) != kMemoryFormats.end();
}

bool is_function(const Library& library, std::string_view name) {
  for (const std::span<const luaL_Reg> functions : library.functions) {
    for (const luaL_Reg& function : functions) {
      if (name == function.name) return true;
    }
  }
  return false;
}

ops::Exposure exposure_in(std::string_view library) {
  return library == "ohm.nn.functional" ? ops::kFunctional : ops::kFunction;
}

std::string member(const Library& library, const std::string& name) {
  const std::string prefix = std::string(library.name) + ".";
  if (is_keyword(name) || is_library(prefix + name)) return "";
  const auto is_property = [&](const Property& known) { return known.name == name; };
  if (std::any_of(library.properties.begin(), library.properties.end(), is_property)) {
    return fmt::format("---@type any\n{}{} = nil\n\n", prefix, name);
  }
  if (is_function(library, name)) return plain_function(prefix, name);
  if (const auto* params = constructor_parameters(library, name)) {
    return described_function(prefix, name, *params, 0,
                              library.name == "ohm.nn" ? "ohm.Module" : "ohm.Optimizer");
  }
  if (library.name == "ohm" && is_named_constant(name)) {
    return fmt::format("{}{} = \"{}\"\n\n", prefix, name, name);
  }
  const ops::OpDef* const op = op_named(name, exposure_in(library.name));
  if (op == nullptr) return plain_function(prefix, name);
  return described_function(prefix, name, op->params, 0, "ohm.Tensor");
}

/// Modules and optimizers of a registry come by name, ops and dtypes through `names`.
std::string library_text(const Library& library) {
  std::string out = fmt::format("{} = {{}}\n\n", library.name);
  std::vector<std::string> names = names_of(library);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  for (const std::string& name : names) out += member(library, name);
  return out;
}

// ---- objects ------------------------------------------------------------------------------------

constexpr std::array<std::string_view, 7> kBinaryOperators = {"add", "div", "idiv", "mod",
                                                              "mul", "pow", "sub"};

/// What the metamethods say: "__add" is `a + b`.
std::string operators(std::span<const luaL_Reg> metamethods) {
  std::string out;
  for (const luaL_Reg& metamethod : metamethods) {
    const std::string_view name = std::string_view(metamethod.name).substr(2);
    if (name == "unm") {
      out += "---@operator unm: ohm.Tensor\n";
    } else if (std::find(kBinaryOperators.begin(), kBinaryOperators.end(), name) !=
               kBinaryOperators.end()) {
      out += fmt::format("---@operator {}(ohm.Tensor|number): ohm.Tensor\n", name);
    }
  }
  return out;
}

std::string methods_text(std::string_view prefix, std::span<const luaL_Reg> methods) {
  std::string out;
  for (const luaL_Reg& method : methods) {
    if (!is_keyword(method.name)) out += plain_function(prefix, method.name);
  }
  return out;
}

std::string tensor_text() {
  const ClassBinding& binding = *script_bindings().find_class(HandleOf<Tensor>::kClass);
  std::string out = "---@class ohm.Tensor\n";
  for (const TensorProperty& property : tensor_properties()) {
    out += fmt::format("---@field {} {}\n", property.name, property.type);
  }
  out += operators(binding.metamethods) + "local Tensor = {}\n\n";
  out += methods_text("Tensor:", binding.methods);
  for (const ops::OpDef& op : ops::all_ops()) {
    if ((op.exposure & ops::kMethod) == 0 || is_keyword(op.info.name)) continue;
    out += described_function("Tensor:", op.info.name, op.params, 1, "ohm.Tensor");
  }
  for (const ops::Synonym& synonym : ops::kSynonyms) {
    const ops::OpDef& op = *ops::find_op(synonym.of);
    if ((op.exposure & ops::kMethod) == 0) continue;
    out += described_function("Tensor:", synonym.name, op.params, 1, "ohm.Tensor");
  }
  return out;
}

std::string module_text() {
  const ClassBinding& binding = *script_bindings().find_class(HandleOf<nn::ModulePtr>::kClass);
  return "---@class ohm.Module\n---@field training boolean\n---@overload fun(...): any\n"
         "local Module = {}\n\n" +
         methods_text("Module:", binding.methods);
}

std::string optimizer_text() {
  return "---@class ohm.Optimizer\n---@field lr number\n---@field state table\nlocal Optimizer = "
         "{}\n\n" +
         methods_text("Optimizer:", optimizer_methods());
}

std::string scenario_text() {
  std::string out =
      "---@class ohm.ScenarioTable\n---@field name string\n---@field summary string\n"
      "---@field gpu? table\n---@field limits? string[]\n---@field reference? string\n";
  for (const RoleName& role : kRoleNames) {
    out +=
        fmt::format("---@field {}? table<string, fun(device: string): table?|table>\n", role.group);
  }
  return out + "\n";
}

}  // namespace

std::string editor_definitions() {
  std::string out =
      "---@meta\n"
      "-- Generated by ohm new from what scripts can call; written again each time.\n\n";
  out += tensor_text() + module_text() + optimizer_text() + scenario_text();
  for (const Library& library : libraries()) out += library_text(library);
  return out;
}

}  // namespace ohm::lua
