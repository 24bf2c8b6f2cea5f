#include "harness/lua/scenario_library.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "allocator_shim/base/format_bytes.h"
#include "allocator_shim/base/nearest_name.h"
#include "allocator_shim/fault/fault_point.h"
#include "harness/lua/arguments.h"
#include "harness/lua/fault_library.h"
#include "harness/lua/handle.h"
#include "harness/lua/native.h"
#include "harness/lua/returned_values.h"
#include "reports/model/sweep_result.h"
#include "reports/model/vocabulary.h"
#include "runtime/tensor/context.h"

namespace ohm::lua {

using engine::GpuSpec;
using engine::ScenarioDescription;
using engine::VariantDescription;
using ScenarioPtr = std::shared_ptr<ScenarioDescription>;

template <>
struct HandleOf<ScenarioPtr> {
  static const HandleClass kClass;
};

const HandleClass HandleOf<ScenarioPtr>::kClass = {"scenario", {}};

namespace {

/// A table with the keys 1 to n and no others.
bool is_list(lua_State* L, int index) {
  if (lua_type(L, index) != LUA_TTABLE) return false;
  index = lua_absindex(L, index);
  std::size_t keys = 0;
  for (lua_pushnil(L); lua_next(L, index) != 0; lua_pop(L, 1)) ++keys;
  const auto count = static_cast<lua_Integer>(lua_rawlen(L, index));
  if (keys != static_cast<std::size_t>(count)) return false;
  for (lua_Integer i = 1; i <= count; ++i) {
    const bool is_there = lua_rawgeti(L, index, i) != LUA_TNIL;
    lua_pop(L, 1);
    if (!is_there) return false;
  }
  return true;
}

/// A table of a script with known fields.
class Fields {
 public:
  /// `what` is what errors call it: "[scenario] gpu".
  Fields(lua_State* L, int index, std::string what)
      : state_(L), table_(lua_absindex(L, index)), what_(std::move(what)) {
    if (lua_type(L, table_) == LUA_TTABLE) return;
    throw std::invalid_argument(
        fmt::format("{} must be a table, got {}", what_, type_of(L, table_)));
  }

  /// Throws for a field that is not among `known`.
  void check(const std::vector<std::string>& known) const {
    for (const std::string& name : names()) {
      if (std::find(known.begin(), known.end(), name) != known.end()) continue;
      throw std::invalid_argument(
          fmt::format("{} has no field '{}'{}", what_, name, did_you_mean(name, known)));
    }
  }

  /// Names of all fields, in byte order. Throws for a key that is no string.
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (lua_pushnil(state_); lua_next(state_, table_) != 0; lua_pop(state_, 1)) {
      if (lua_type(state_, -2) != LUA_TSTRING) {
        throw std::invalid_argument(fmt::format("{} is a table of names, it has no list", what_));
      }
      found.emplace_back(lua_tostring(state_, -2));
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  /// Calls read(value's index) with the field on top of the stack, if it is there.
  template <class F>
  void read(std::string_view name, F&& read) const {
    lua_pushlstring(state_, name.data(), name.size());
    if (lua_rawget(state_, table_) != LUA_TNIL) read(lua_gettop(state_));
    lua_pop(state_, 1);
  }

  /// `value` is a string, or an optional one.
  template <class Text>
  void text(std::string_view name, Text& value) const {
    read(name, [&](int index) {
      if (lua_type(state_, index) != LUA_TSTRING) refuse(name, "a string", index);
      value = lua_tostring(state_, index);
    });
  }
  void texts(std::string_view name, std::vector<std::string>& values) const {
    read(name, [&](int index) {
      if (lua_type(state_, index) != LUA_TTABLE) refuse(name, "a list of strings", index);
      if (!is_list(state_, index)) {
        throw std::invalid_argument(fmt::format(
            "{}: field '{}' must be a list of strings: it has other keys, or holes", what_, name));
      }
      const auto count = static_cast<lua_Integer>(lua_rawlen(state_, index));
      for (lua_Integer i = 1; i <= count; ++i) {
        if (lua_rawgeti(state_, index, i) != LUA_TSTRING) refuse(name, "a list of strings", -1);
        values.emplace_back(lua_tostring(state_, -1));
        lua_pop(state_, 1);
      }
    });
  }

  [[noreturn]] void refuse(std::string_view name, std::string_view expected, int index) const {
    throw std::invalid_argument(fmt::format("{}: field '{}' must be {}, got {}", what_, name,
                                            expected, type_of(state_, index)));
  }

 private:
  lua_State* state_;
  int table_;
  std::string what_;
};

// What is not given stays as `gpu` has it.
GpuSpec read_gpu(lua_State* L, int index, const std::string& what, GpuSpec gpu) {
  const Fields fields(L, index, what);
  fields.check({"alloc_conf", "capacity", "count", "profile", "rules", "values"});
  fields.text("profile", gpu.profile);
  fields.text("rules", gpu.rules);
  fields.text("alloc_conf", gpu.alloc_conf);
  fields.read("count", [&](int value) {
    if (lua_isinteger(L, value) == 0) fields.refuse("count", "an integer", value);
    gpu.count = static_cast<int>(std::clamp<lua_Integer>(lua_tointeger(L, value), -1, 1 << 20));
  });
  fields.read("values", [&](int value) {
    if (!lua_isboolean(L, value)) fields.refuse("values", "a boolean", value);
    gpu.values = lua_toboolean(L, value) != 0;
  });
  fields.read("capacity", [&](int value) {
    if (lua_isinteger(L, value) != 0 && lua_tointeger(L, value) >= 0) {
      gpu.capacity_bytes = static_cast<std::size_t>(lua_tointeger(L, value));
    } else if (lua_type(L, value) == LUA_TSTRING) {
      gpu.capacity_bytes = parse_bytes(lua_tostring(L, value));
    } else {
      fields.refuse("capacity", "bytes or a text like \"64 MiB\"", value);
    }
  });
  return gpu;
}

int line_of_function(lua_State* L, int index) {
  lua_Debug function;
  lua_pushvalue(L, index);
  lua_getinfo(L, ">S", &function);
  return function.linedefined;
}

/// Beside the functions of the variants, whose names hold no blank.
std::string next_step_key(const std::string& variant) { return "next step of " + variant; }

/// Reads the variants of one role, and keeps their functions in the table at `functions`.
class VariantReader {
 public:
  VariantReader(lua_State* L, ScenarioDescription& scenario, int functions)
      : state_(L), scenario_(scenario), functions_(functions) {}

  void read_group(int index, Role role) {
    const std::string group(kRoleNames[static_cast<std::size_t>(role)].group);
    const Fields fields(state_, index, fmt::format("[scenario] {}", group));
    for (const std::string& name : fields.names()) {
      VariantDescription variant;
      variant.name = name;
      variant.role = role;
      fields.read(name, [&](int value) { read_variant(value, variant); });
      scenario_.variants.push_back(std::move(variant));
    }
  }

 private:
  void read_variant(int index, VariantDescription& variant) {
    if (lua_type(state_, index) == LUA_TFUNCTION) return keep_function(index, variant);
    const std::string what = fmt::format("[scenario] variant '{}'", variant.name);
    if (lua_type(state_, index) != LUA_TTABLE) {
      throw std::invalid_argument(fmt::format("{} must be a function or a table with run, got {}",
                                              what, type_of(state_, index)));
    }
    const Fields fields(state_, index, what);
    fields.check({"compare_as", "fault", "gpu", "limits", "must_agree", "next_step", "of", "raises",
                  "reference", "returns", "run", "trades", "waive"});
    fields.text("of", variant.of);
    fields.text("trades", variant.trades);
    fields.texts("must_agree", variant.must_agree);
    fields.text("compare_as", variant.compare_as);
    fields.text("reference", variant.reference);
    fields.texts("limits", variant.limits);
    fields.read("fault", [&](int value) {
      std::optional<std::string> plan = fault_plan_text(state_, value);
      if (!plan) throw std::invalid_argument(what + ": fault must be a fault plan or its text");
      variant.fault = *plan;
    });
    fields.read("raises", [&](int) { fields.text("raises", variant.raises.emplace()); });
    fields.read("returns", [&](int value) {
      if (lua_type(state_, value) != LUA_TTABLE) fields.refuse("returns", "a table", value);
      variant.returns = copy_returned_values(state_, value);
    });
    fields.read("gpu", [&](int value) {
      variant.gpu = read_gpu(state_, value, what + ": gpu", scenario_.gpu);
    });
    fields.read("waive", [&](int value) { read_waivers(value, what, variant); });
    fields.read("next_step", [&](int value) { keep_next_step(value, variant); });
    fields.read("run", [&](int value) { keep_function(value, variant); });
    if (variant.line == 0) {
      throw std::invalid_argument(fmt::format("{} has no function 'run'", what));
    }
  }

  // {{point = "ohm:3f9c", verdict = "recovered_different", reason = "…"}, …}
  void read_waivers(int index, const std::string& what, VariantDescription& variant) {
    if (!is_list(state_, index)) {
      throw std::invalid_argument(what + ": waive must be a list of tables, as in {{verdict = …}}");
    }
    const auto count = static_cast<lua_Integer>(lua_rawlen(state_, index));
    for (lua_Integer i = 1; i <= count; ++i) {
      lua_rawgeti(state_, index, i);
      variant.waivers.push_back(read_waiver(lua_gettop(state_), what + ": waive"));
      lua_pop(state_, 1);
    }
  }

  engine::Waiver read_waiver(int index, const std::string& what) const {
    const Fields fields(state_, index, what);
    fields.check({"point", "reason", "verdict"});
    engine::Waiver waiver;
    std::optional<std::string> point;
    fields.text("point", point);
    fields.text("verdict", waiver.verdict);
    fields.text("reason", waiver.reason);
    std::vector<std::string> verdicts;  // a good one needs no waiver
    for (const FaultVerdictName& verdict : kFaultVerdicts) {
      if (!verdict.is_good) verdicts.emplace_back(verdict.name);
    }
    if (std::find(verdicts.begin(), verdicts.end(), waiver.verdict) == verdicts.end()) {
      throw std::invalid_argument(fmt::format(
          "{}: field 'verdict' is one of {}, not \"{}\"{}", what, fmt::join(verdicts, ", "),
          waiver.verdict, waiver.verdict.empty() ? "" : did_you_mean(waiver.verdict, verdicts)));
    }
    if (point && !parse_fault_point(*point)) {
      throw std::invalid_argument(fmt::format(
          "{}: field 'point' is a point as ohm sweep names it, as in ohm:3f9c, not \"{}\"", what,
          *point));
    }
    if (waiver.reason.find_first_not_of(" \t\r\n") == std::string::npos) {
      throw std::invalid_argument(what + " has no reason; say why the verdict is accepted");
    }
    waiver.point = point.value_or("");
    return waiver;
  }

  void keep_next_step(int index, const VariantDescription& variant) {
    if (lua_type(state_, index) != LUA_TFUNCTION) {
      throw std::invalid_argument(
          fmt::format("[scenario] variant '{}': next_step must be a function", variant.name));
    }
    lua_pushvalue(state_, index);
    lua_setfield(state_, functions_, next_step_key(variant.name).c_str());
  }

  void keep_function(int index, VariantDescription& variant) {
    if (lua_type(state_, index) != LUA_TFUNCTION || lua_iscfunction(state_, index) != 0) {
      throw std::invalid_argument(
          fmt::format("[scenario] variant '{}': run must be a function of the script, got {}",
                      variant.name, type_of(state_, index)));
    }
    variant.line = line_of_function(state_, index);
    lua_pushvalue(state_, index);
    lua_setfield(state_, functions_, variant.name.c_str());
  }

  lua_State* state_;
  ScenarioDescription& scenario_;
  int functions_;
};

std::vector<std::string> scenario_fields() {
  std::vector<std::string> names = {"gpu", "limits", "name", "reference", "summary"};
  for (const RoleName& role : kRoleNames) names.emplace_back(role.group);
  return names;
}

void read_scenario(lua_State* L, int index, ScenarioDescription& scenario, int functions) {
  const Fields fields(L, index, "[scenario]");
  fields.check(scenario_fields());
  fields.text("name", scenario.name);
  fields.text("summary", scenario.summary);
  fields.text("reference", scenario.reference);
  fields.texts("limits", scenario.limits);
  fields.read("gpu", [&](int value) { scenario.gpu = read_gpu(L, value, "[scenario] gpu", {}); });
  VariantReader variants(L, scenario, functions);
  for (std::size_t role = 0; role < kRoleNames.size(); ++role) {
    fields.read(kRoleNames[role].group,
                [&](int value) { variants.read_group(value, static_cast<Role>(role)); });
  }
  std::stable_sort(scenario.variants.begin(), scenario.variants.end(),
                   [](const VariantDescription& a, const VariantDescription& b) {
                     return std::tie(a.role, a.line, a.name) < std::tie(b.role, b.line, b.name);
                   });
}

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
engine::ScenarioParameter read_parameter(lua_State* L, const Fields& all, const std::string& name,
                                         int index) {
  engine::ScenarioParameter parameter;
  parameter.name = name;
  if (lua_type(L, index) == LUA_TNUMBER) {
    parameter.default_value = lua_tonumber(L, index);
    parameter.is_integer = lua_isinteger(L, index) != 0;
    return parameter;
  }
  if (lua_type(L, index) != LUA_TTABLE) all.refuse(name, "a number or a table", index);
  const Fields fields(L, index, fmt::format("[params] '{}'", name));
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
  const Fields fields(L, 1, "[params] the argument");
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

int step(lua_State* L) {
  engine::RunContext* run = Interpreter::of(L).run;
  if (run == nullptr) {
    throw std::invalid_argument(
        "[step] marks a step of a variant: call it in a variant's function");
  }
  run->mark_step();
  return 0;
}

constexpr luaL_Reg kFunctions[] = {
    {"params", native<params>},
    {"scenario", native<scenario>},
    {"step", native<step>},
};

}  // namespace

std::span<const luaL_Reg> scenario_functions() { return kFunctions; }

const ScenarioDescription* test_scenario(lua_State* L, int index) {
  const ScenarioPtr* scenario = test_handle<ScenarioPtr>(L, index);
  return scenario == nullptr ? nullptr : scenario->get();
}

void push_next_step(lua_State* L, int index, const std::string& variant) {
  push_variant_function(L, index, next_step_key(variant));
}

void push_variant_function(lua_State* L, int index, const std::string& variant) {
  lua_getiuservalue(L, index, 1);
  lua_getfield(L, -1, variant.c_str());
  lua_remove(L, -2);
}

}  // namespace ohm::lua
