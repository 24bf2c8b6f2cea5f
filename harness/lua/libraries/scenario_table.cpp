#include "harness/lua/libraries/scenario_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "allocator_shim/base/format_bytes.h"
#include "allocator_shim/base/nearest_name.h"
#include "allocator_shim/fault/fault_point.h"
#include "harness/lua/bind/arguments.h"
#include "harness/lua/bind/returned_values.h"
#include "harness/lua/bind/table_fields.h"
#include "harness/lua/libraries/fault_library.h"
#include "reports/model/sweep_result.h"
#include "reports/model/vocabulary.h"

namespace ohm::lua {
namespace {

using engine::GpuSpec;
using engine::ScenarioDescription;
using engine::VariantDescription;

// What is not given stays as `gpu` has it.
GpuSpec read_gpu(lua_State* L, int index, const std::string& what, GpuSpec gpu) {
  const TableFields fields(L, index, what);
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
      fields.refuse("capacity", "bytes or a string like \"64 MiB\"", value);
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

/// Reads the variants of one role, and keeps their functions in the table at `functions`.
class VariantReader {
 public:
  VariantReader(lua_State* L, ScenarioDescription& scenario, int functions)
      : state_(L), scenario_(scenario), functions_(functions) {}

  void read_group(int index, Role role) {
    const std::string group(kRoleNames[static_cast<std::size_t>(role)].group);
    const TableFields fields(state_, index, fmt::format("[scenario] {}", group));
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
    const TableFields fields(state_, index, what);
    fields.check({"compare_as", "fault", "gpu", "limits", "must_agree", "must_break", "must_differ",
                  "next_step", "of", "raises", "reference", "returns", "run", "trades", "waive"});
    fields.text("of", variant.of);
    fields.text("trades", variant.trades);
    fields.texts("must_agree", variant.must_agree);
    fields.texts("must_break", variant.must_break);
    fields.texts("must_differ", variant.must_differ);
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
    const TableFields fields(state_, index, what);
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
          "{}: field 'verdict' must be one of {}, got \"{}\"{}", what, fmt::join(verdicts, ", "),
          waiver.verdict, waiver.verdict.empty() ? "" : did_you_mean(waiver.verdict, verdicts)));
    }
    if (point && !parse_fault_point(*point)) {
      throw std::invalid_argument(fmt::format(
          "{}: field 'point' must be a point as ohm sweep names it, as in ohm:3f9c, got \"{}\"",
          what, *point));
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

}  // namespace

std::string next_step_key(const std::string& variant) { return "next step of " + variant; }

void read_scenario(lua_State* L, int index, ScenarioDescription& scenario, int functions) {
  const TableFields fields(L, index, "[scenario]");
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

}  // namespace ohm::lua
