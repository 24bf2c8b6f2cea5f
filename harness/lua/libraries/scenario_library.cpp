#include "harness/lua/libraries/scenario_library.h"

#include <fmt/format.h>

#include <optional>
#include <stdexcept>
#include <utility>

#include "harness/lua/bind/handle.h"
#include "harness/lua/bind/native.h"
#include "harness/lua/bind/table_fields.h"
#include "harness/lua/libraries/scenario_table.h"
#include "harness/lua/vm/interpreter.h"
#include "runtime/tensor/context.h"

namespace ohm::lua {

using engine::ScenarioDescription;
using ScenarioPtr = std::shared_ptr<ScenarioDescription>;

template <>
struct HandleOf<ScenarioPtr> {
  static const HandleClass kClass;
};

const HandleClass HandleOf<ScenarioPtr>::kClass = {"scenario", {}};

namespace {

// ohm.scenario{…}: returns a handle that the file returns in turn.
int scenario(lua_State* L) {
  lua_settop(L, 1);
  const auto description = std::make_shared<ScenarioDescription>();
  description->file = Interpreter::of(L).script_path();
  description->line = Context::current().state.line;
  description->parameters = Interpreter::of(L).parameters.declared();
  lua_newtable(L);
  read_scenario(L, 1, *description, 2);
  push_handle<ScenarioPtr>(L, description, 1);
  lua_pushvalue(L, 2);
  lua_setiuservalue(L, -2, 1);
  return 1;
}

// 32, or {default = 32, min = 1, max = 1024, summary = "samples at once"}.
engine::ScenarioParameter read_parameter(lua_State* L, const TableFields& all,
                                         const std::string& name, int index) {
  engine::ScenarioParameter parameter;
  parameter.name = name;
  if (lua_type(L, index) == LUA_TNUMBER) {
    parameter.default_value = lua_tonumber(L, index);
    parameter.is_integer = lua_isinteger(L, index) != 0;
    return parameter;
  }
  if (lua_type(L, index) != LUA_TTABLE) all.refuse(name, "a number or a table", index);
  const TableFields fields(L, index, fmt::format("[params] '{}'", name));
  fields.check({"default", "max", "min", "summary"});
  const auto number = [&](const char* field, auto& value) {
    fields.read(field, [&](int at) {
      if (lua_type(L, at) != LUA_TNUMBER) fields.refuse(field, "a number", at);
      value = lua_tonumber(L, at);
    });
  };
  std::optional<double> initial;
  number("default", initial);
  if (!initial) throw std::invalid_argument(fmt::format("[params] '{}' has no default", name));
  fields.read("default", [&](int at) { parameter.is_integer = lua_isinteger(L, at) != 0; });
  parameter.default_value = *initial;
  number("min", parameter.least);
  number("max", parameter.most);
  fields.text("summary", parameter.summary);
  return parameter;
}

// ohm.params{batch = 32}: declares numbers that can be set from outside, and returns the values in
// force.
int params(lua_State* L) {
  const TableFields fields(L, 1, "[params] the argument");
  lua_settop(L, 1);
  lua_newtable(L);
  for (const std::string& name : fields.names()) {
    fields.read(name, [&](int value) {
      engine::ScenarioParameter parameter = read_parameter(L, fields, name, value);
      const bool is_integer = parameter.is_integer;
      const double in_force = Interpreter::of(L).parameters.declare(std::move(parameter));
      if (is_integer) {
        lua_pushinteger(L, static_cast<lua_Integer>(in_force));
      } else {
        lua_pushnumber(L, in_force);
      }
      lua_setfield(L, 2, name.c_str());
    });
  }
  return 1;
}

int mark_step(lua_State* L) {
  engine::RunContext* run = Interpreter::of(L).run;
  if (run == nullptr) {
    throw std::invalid_argument(
        "[step] marks a step of a variant: call it in a variant's function");
  }
  run->mark_step();
  return 0;
}

constexpr luaL_Reg kScenarioFunctions[] = {
    {"params", native<params>},
    {"scenario", native<scenario>},
    {"step", native<mark_step>},
};

}  // namespace

std::span<const luaL_Reg> scenario_functions() { return kScenarioFunctions; }

ScenarioPtr test_scenario(lua_State* L, int index) {
  const ScenarioPtr* scenario = test_handle<ScenarioPtr>(L, index);
  return scenario == nullptr ? nullptr : *scenario;
}

void push_next_step(lua_State* L, int index, const std::string& variant) {
  push_variant_function(L, index, next_step_key(variant));
}

void push_variant_function(lua_State* L, int index, const std::string& variant) {
  lua_getiuservalue(L, index, 1);
  lua_getfield(L, -1, variant.c_str());
  lua_remove(L, -2);
}

void keep_variant_functions(lua_State* L, int index, const std::vector<std::string>& variants) {
  lua_createtable(L, 0, static_cast<int>(variants.size()));
  for (const std::string& variant : variants) {
    push_variant_function(L, index, variant);
    lua_setfield(L, -2, variant.c_str());
    push_next_step(L, index, variant);
    lua_setfield(L, -2, next_step_key(variant).c_str());
  }
  Interpreter::of(L).lifetimes().note_unknown_write();
  lua_setiuservalue(L, index, 1);
}

}  // namespace ohm::lua
