#include "harness/lua/libraries/fault_library.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <utility>

#include "allocator_shim/base/assert.h"
#include "allocator_shim/fault/fault_plan.h"
#include "harness/lua/bind/arguments.h"
#include "harness/lua/bind/handle.h"
#include "harness/lua/bind/mode.h"
#include "harness/lua/bind/native.h"
#include "harness/lua/bind/numbered_functions.h"
#include "harness/lua/bind/out_of_memory_value.h"
#include "harness/lua/vm/push_text.h"
#include "harness/machine/machine.h"
#include "harness/sweep/body_sweep.h"

namespace ohm::lua {

/// A plan that a script put together. Plans that count are made of its text, each time afresh.
/// The text is the beginning of one that plans may share: a longer plan that begins with it is
/// written behind it, so that a chain of n terms costs n and not n².
struct PlanText {
  std::shared_ptr<std::string> shared;
  std::size_t length = 0;
  FaultPlanShape shape;

  std::string_view text() const { return std::string_view(*shared).substr(0, length); }
};
using PlanPtr = std::shared_ptr<const PlanText>;

template <>
struct HandleOf<PlanPtr> {
  static const HandleClass kClass;
};

namespace {

PlanText plan_of(std::string text) {
  const FaultPlanShape shape = FaultPlan::parse(text).shape();
  const std::size_t length = text.size();
  return {std::make_shared<std::string>(std::move(text)), length, shape};
}

int push_plan(lua_State* L, PlanText plan) {
  push_handle<PlanPtr>(L, std::make_shared<const PlanText>(std::move(plan)));
  return 1;
}

std::string plan_argument(lua_State* L, int index, const ArgumentName& name) {
  std::optional<std::string> text = fault_plan_text(L, index);
  if (!text) refuse_argument(L, index, name, "a fault plan or its text");
  return *text;
}

/// An operand: what is wrong with a text alone may be right beside the other operand.
std::optional<PlanText> operand(lua_State* L, int index) {
  const PlanPtr* plan = test_handle<PlanPtr>(L, index);
  return plan == nullptr || !*plan ? std::nullopt : std::optional<PlanText>(**plan);
}

/// A number or a string as a policy's text has it.
std::string word_at(lua_State* L, int index, const ArgumentName& name) {
  if (lua_isinteger(L, index) != 0) return std::to_string(lua_tointeger(L, index));
  if (lua_type(L, index) == LUA_TNUMBER) return fmt::format("{}", lua_tonumber(L, index));
  if (lua_type(L, index) == LUA_TSTRING) return lua_tostring(L, index);
  refuse_argument(L, index, name, "a number or a string");
}

/// `seed=7` for each field, in the order of their names.
void add_named(lua_State* L, int table, const ArgumentName& name, std::vector<std::string>& words) {
  std::vector<std::string> named;
  for (lua_pushnil(L); lua_next(L, table) != 0; lua_pop(L, 1)) {
    if (lua_type(L, -2) != LUA_TSTRING) refuse_argument(L, table, name, "named, as {seed = 7}");
    named.push_back(fmt::format("{}={}", lua_tostring(L, -2), word_at(L, lua_gettop(L), name)));
  }
  std::sort(named.begin(), named.end());
  words.insert(words.end(), named.begin(), named.end());
}

int make_policy(lua_State* L, std::size_t number) {
  const FaultPolicyRow& row = fault_policies()[number];
  const ArgumentName name = {row.name, "argument"};
  std::vector<std::string> words;
  const int count = lua_gettop(L);
  for (int index = 1; index <= count; ++index) {
    if (lua_istable(L, index)) {
      add_named(L, index, name, words);
    } else {
      words.push_back(word_at(L, index, name));
    }
  }
  return push_plan(L, plan_of(fmt::format("{}({})", row.name, fmt::join(words, ", "))));
}

int persistent(lua_State* L) {
  return push_plan(
      L, plan_of(fmt::format("persistent({})", plan_argument(L, 1, {"persistent", "policy"}))));
}

using JoinShapes = std::optional<FaultPlanShape> (*)(const FaultPlanShape& left,
                                                     const FaultPlanShape& right);

/// `word` with spaces around it stands between the two; `name` is the operator's in Lua.
int join(lua_State* L, std::string_view name, std::string_view word, JoinShapes join_shapes) {
  const std::optional<PlanText> left = operand(L, 1);
  const std::optional<PlanText> right = operand(L, 2);
  std::optional<FaultPlanShape> shape;
  if (left && right) shape = join_shapes(left->shape, right->shape);
  if (!shape) {
    return push_plan(L, plan_of(fmt::format("{}{}{}", plan_argument(L, 1, {name, "left"}), word,
                                            plan_argument(L, 2, {name, "right"}))));
  }
  const std::string added = fmt::format("{}{}", word, right->text());
  const bool is_whole = left->length == left->shared->size();
  PlanText plan = {is_whole ? left->shared : std::make_shared<std::string>(left->text()),
                   left->length + added.size(), *shape};
  *plan.shared += added;
  return push_plan(L, std::move(plan));
}

int both(lua_State* L) { return join(L, "&", " & ", &joined_by_and); }

int in_turn(lua_State* L) { return join(L, ">>", " -> ", &joined_by_then); }

int text_of(lua_State* L) {
  const std::string text = plan_argument(L, 1, {"tostring", "plan"});
  push_text(L, text);
  return 1;
}

// with(plan [, fn, …])
int with(lua_State* L) {
  engine::RunContext* run = Interpreter::of(L).run;
  if (run == nullptr) {
    throw std::invalid_argument("[with] faults are injected while a variant runs");
  }
  return enter_mode(L, 2, {"with", "fn"},
                    run->machine().inject(plan_argument(L, 1, {"with", "plan"})));
}

// ---- sweeps of a function -----------------------------------------------------------------------

/// Calls the function at `index` once. Its result counts where it is a number.
engine::BodyResult call_body(lua_State* L, int index) {
  const int top = lua_gettop(L);
  lua_pushvalue(L, index);
  const int status = lua_pcall(L, 0, 1, 0);
  engine::BodyResult result = 0;
  std::optional<OutOfMemoryReport> failure;
  std::string message;
  if (status == LUA_OK) {
    const double number = lua_tonumber(L, -1);
    std::memcpy(&result, &number, sizeof result);
  } else if (const OutOfMemory* error = test_out_of_memory(L, -1)) {
    failure = error->report();
  } else {
    message = luaL_tolstring(L, -1, nullptr);
  }
  lua_settop(L, top);
  Interpreter::of(L).collect(L);
  Interpreter::of(L).rethrow_failure(L);
  if (failure) throw OutOfMemory(*failure);
  if (status != LUA_OK) throw std::runtime_error(message);
  return result;
}

// sweep(fn [, form]): {calls = 40, faults = 40, clean_error = 40, …}
int sweep(lua_State* L) {
  engine::RunContext* run = Interpreter::of(L).run;
  if (run == nullptr) {
    throw std::invalid_argument("[sweep] faults are injected while a variant runs");
  }
  if (lua_type(L, 1) != LUA_TFUNCTION) refuse_argument(L, 1, {"sweep", "fn"}, "a function");
  FaultForm form = FaultForm::transient;
  if (!lua_isnoneornil(L, 2)) {
    const std::string_view name = string_argument(L, 2, {"sweep", "form"});
    if (name != name_of(FaultForm::transient) && name != name_of(FaultForm::persistent)) {
      throw std::invalid_argument("[sweep] form must be 'transient' or 'persistent'");
    }
    if (name == name_of(FaultForm::persistent)) form = FaultForm::persistent;
  }
  const engine::BodySweepResult result =
      engine::sweep_body(run->machine(), form, [L] { return call_body(L, 1); });
  lua_newtable(L);
  const auto set = [L](std::string_view field, std::int64_t value) {
    lua_pushinteger(L, value);
    lua_setfield(L, -2, std::string(field).c_str());
  };
  set("calls", result.calls);
  set("faults", result.faults);
  for (std::size_t i = 0; i < kFaultVerdicts.size(); ++i) {
    set(kFaultVerdicts[i].name, result.verdicts[i]);
  }
  return 1;
}

constexpr luaL_Reg kFaultFunctions[] = {
    {"persistent", native<persistent>}, {"sweep", native<sweep>}, {"with", native<with>}};
constexpr luaL_Reg kPlanMetamethods[] = {{"__band", native<both>},
                                         {"__shr", native<in_turn>},
                                         {"__tostring", native<text_of, Entry::access>}};

constexpr auto kPolicies = numbered_functions<make_policy, 32>();

}  // namespace

const HandleClass HandleOf<PlanPtr>::kClass = {"fault plan", kPlanMetamethods};

std::span<const luaL_Reg> fault_functions() { return kFaultFunctions; }

bool push_fault_policy(lua_State* L, std::string_view name) {
  const auto rows = fault_policies();
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const FaultPolicyRow& known) {
    return known.name == name && !known.is_for_commands;
  });
  if (row == rows.end()) return false;
  OHM_ASSERT(rows.size() <= kPolicies.size(), "more policies than numbered functions");
  lua_pushcfunction(L, kPolicies[static_cast<std::size_t>(row - rows.begin())]);
  return true;
}

std::vector<std::string> fault_policy_names() {
  std::vector<std::string> names;
  for (const FaultPolicyRow& row : fault_policies()) {
    if (!row.is_for_commands) names.emplace_back(row.name);
  }
  return names;
}

std::optional<std::string> fault_plan_text(lua_State* L, int index) {
  if (lua_type(L, index) == LUA_TSTRING) return lua_tostring(L, index);
  const PlanPtr* plan = test_handle<PlanPtr>(L, index);
  if (plan == nullptr || !*plan) return std::nullopt;
  return std::string((*plan)->text());
}

}  // namespace ohm::lua
