#include "harness/lua/libraries/lr_scheduler_library.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <stdexcept>
#include <utility>

#include "allocator_shim/base/assert.h"
#include "harness/lua/bind/methods.h"
#include "harness/lua/bind/native.h"
#include "harness/lua/bind/numbered_functions.h"
#include "harness/lua/bind/object_handle.h"
#include "harness/lua/bind/op_arguments.h"
#include "harness/lua/bind/optimizer_handle.h"
#include "harness/lua/bind/reference.h"
#include "harness/lua/vm/interpreter.h"
#include "runtime/optim/lr_scheduler.h"

namespace ohm::lua {

using optim::LrScheduler;
using optim::LrSchedulerPtr;
using optim::OptimizerPtr;
using optim::ReduceLrOnPlateau;
using PlateauPtr = std::shared_ptr<ReduceLrOnPlateau>;

template <>
struct HandleOf<LrSchedulerPtr> {
  static const HandleClass kClass;
};
template <>
struct HandleOf<PlateauPtr> {
  static const HandleClass kClass;
};

namespace {

// Every scheduler's first argument.
OptimizerPtr optimizer_argument(lua_State* L, std::string_view function) {
  object_argument<optim::Optimizer>(L, 1, {function, "optimizer"});
  return *test_handle<OptimizerPtr>(L, 1);
}

int push_lr_list(lua_State* L, double lr) {
  lua_createtable(L, 1, 0);
  lua_pushnumber(L, lr);
  lua_rawseti(L, -2, 1);
  return 1;
}

// ---- methods ------------------------------------------------------------------------------------

LrScheduler& scheduler(lua_State* L, std::string_view method) {
  return object_argument<LrScheduler>(L, 1, {method, "self"});
}

int scheduler_step(lua_State* L) {
  scheduler(L, "step").step();
  return 0;
}

int get_last_lr(lua_State* L) { return push_lr_list(L, scheduler(L, "get_last_lr").last_lr()); }

constexpr luaL_Reg kLrSchedulerMethods[] = {{"get_last_lr", native<get_last_lr>},
                                            {"step", native<scheduler_step>}};

int index_scheduler(lua_State* L) {
  if (string_argument(L, 2, {"lr_scheduler", "name"}) == "last_epoch") {
    lua_pushinteger(L, scheduler(L, "last_epoch").last_epoch());
    return 1;
  }
  return push_method(L, kLrSchedulerMethods, "lr_scheduler", {"last_epoch"});
}

constexpr luaL_Reg kLrSchedulerMetamethods[] = {
    {"__index", native<index_scheduler, Entry::access>}};

ReduceLrOnPlateau& plateau(lua_State* L, std::string_view method) {
  return object_argument<ReduceLrOnPlateau>(L, 1, {method, "self"});
}

int plateau_step(lua_State* L) {
  plateau(L, "step").step(number_argument(L, 2, {"step", "metrics"}));
  return 0;
}

int plateau_lr(lua_State* L) { return push_lr_list(L, plateau(L, "get_last_lr").last_lr()); }

constexpr luaL_Reg kPlateauMethods[] = {
    {"get_last_lr", native<plateau_lr>},
    {"step", native<plateau_step>},
};

int index_plateau(lua_State* L) { return push_method(L, kPlateauMethods, "ReduceLROnPlateau"); }

constexpr luaL_Reg kPlateauMetamethods[] = {{"__index", native<index_plateau, Entry::access>}};

// ---- constructors -------------------------------------------------------------------------------

int make_scheduler(lua_State* L, std::size_t number) {
  const optim::LrSchedulerDef& row = optim::all_lr_schedulers()[number];
  OptimizerPtr optimizer = optimizer_argument(L, row.name);
  lua_remove(L, 1);
  push_handle<LrSchedulerPtr>(
      L, row.make(std::move(optimizer), read_parameters(L, row.name, row.params)));
  return 1;
}

constexpr auto kLrSchedulerConstructors = numbered_functions<make_scheduler, 32>();

// The function of an epoch that stands second, or as `lr_lambda`.
std::function<double(std::int64_t)> factor_argument(lua_State* L, std::string_view name) {
  const NamedArguments named(L, name);
  constexpr std::string_view kNames[] = {"lr_lambda"};
  named.check_names(kNames);
  if (!named.push("lr_lambda")) lua_pushvalue(L, 2);
  if (lua_type(L, -1) != LUA_TFUNCTION) refuse_argument(L, -1, {name, "lr_lambda"}, "a function");
  return [function = std::make_shared<Reference>(L), &interpreter = Interpreter::of(L),
          name](std::int64_t epoch) {
    lua_State* running = interpreter.running_state();
    luaL_checkstack(running, LUA_MINSTACK, nullptr);
    function->push(running);
    lua_pushinteger(running, epoch);
    lua_call(running, 1, 1);
    const double factor = number_argument(running, -1, {name, "result of lr_lambda"});
    lua_pop(running, 1);
    return factor;
  };
}

int lambda_lr(lua_State* L) {
  OptimizerPtr optimizer = optimizer_argument(L, "LambdaLR");
  push_handle<LrSchedulerPtr>(
      L, optim::lambda_lr(std::move(optimizer), factor_argument(L, "LambdaLR")));
  return 1;
}

int multiplicative_lr(lua_State* L) {
  OptimizerPtr optimizer = optimizer_argument(L, "MultiplicativeLR");
  push_handle<LrSchedulerPtr>(
      L, optim::multiplicative_lr(std::move(optimizer), factor_argument(L, "MultiplicativeLR")));
  return 1;
}

// Pushes the argument that stands at `index` or is named so.
void push_argument(lua_State* L, const NamedArguments& named, int index, std::string_view name) {
  if (!named.push(name)) lua_pushvalue(L, index);
}

// SequentialLR(optimizer, {schedulers}, {milestones}), or the lists by name.
int sequential_lr(lua_State* L) {
  constexpr std::string_view kLrSchedulerName = "SequentialLR";
  OptimizerPtr optimizer = optimizer_argument(L, kLrSchedulerName);
  const NamedArguments named(L, kLrSchedulerName);
  constexpr std::string_view kNames[] = {"milestones", "schedulers"};
  named.check_names(kNames);
  push_argument(L, named, 2, "schedulers");
  const int list = lua_gettop(L);
  if (lua_type(L, list) != LUA_TTABLE) {
    refuse_argument(L, list, {kLrSchedulerName, "schedulers"}, "a list of schedulers");
  }
  std::vector<LrSchedulerPtr> schedulers;
  const auto count = static_cast<lua_Integer>(lua_rawlen(L, list));
  for (lua_Integer i = 1; i <= count; ++i) {
    lua_rawgeti(L, list, i);
    object_argument<LrScheduler>(L, -1, {kLrSchedulerName, fmt::format("schedulers[{}]", i)});
    schedulers.push_back(*test_handle<LrSchedulerPtr>(L, -1));
    lua_pop(L, 1);
  }
  push_argument(L, named, 3, "milestones");
  const Shape milestones = sizes_argument(L, lua_gettop(L), {kLrSchedulerName, "milestones"});
  push_handle<LrSchedulerPtr>(L, optim::sequential_lr(std::move(optimizer), std::move(schedulers),
                                                      {milestones.begin(), milestones.end()}));
  return 1;
}

template <class Choice>
Choice choice_argument(lua_State* L, const NamedArguments& named, std::string_view name,
                       std::initializer_list<std::pair<std::string_view, Choice>> choices) {
  if (!named.push(name)) return choices.begin()->second;
  const std::string_view given = string_argument(L, -1, {named.function(), name});
  for (const auto& [text, choice] : choices) {
    if (given == text) return choice;
  }
  throw std::invalid_argument(fmt::format("[{}] argument '{}' must be \"{}\" or \"{}\", got \"{}\"",
                                          named.function(), name, choices.begin()->first,
                                          (choices.begin() + 1)->first, given));
}

// ReduceLROnPlateau(optimizer [, {mode, factor, …}])
int reduce_lr_on_plateau(lua_State* L) {
  constexpr std::string_view kLrSchedulerName = "ReduceLROnPlateau";
  OptimizerPtr optimizer = optimizer_argument(L, kLrSchedulerName);
  const NamedArguments named(L, kLrSchedulerName);
  constexpr std::string_view kNames[] = {"mode",           "factor",   "patience", "threshold",
                                         "threshold_mode", "cooldown", "min_lr",   "eps"};
  named.check_names(kNames);
  using Mode = ReduceLrOnPlateau::Mode;
  using Threshold = ReduceLrOnPlateau::Threshold;
  ReduceLrOnPlateau::Options options;
  options.mode = choice_argument<Mode>(L, named, "mode", {{"min", Mode::min}, {"max", Mode::max}});
  options.factor = named.number("factor", options.factor);
  options.patience = named.integer("patience", options.patience);
  options.threshold = named.number("threshold", options.threshold);
  options.threshold_mode = choice_argument<Threshold>(
      L, named, "threshold_mode", {{"rel", Threshold::relative}, {"abs", Threshold::absolute}});
  options.cooldown = named.integer("cooldown", options.cooldown);
  options.min_lr = named.number("min_lr", options.min_lr);
  options.eps = named.number("eps", options.eps);
  push_handle<PlateauPtr>(L, std::make_shared<ReduceLrOnPlateau>(std::move(optimizer), options));
  return 1;
}

constexpr luaL_Reg kLrSchedulerFunctions[] = {
    {"LambdaLR", native<lambda_lr>},
    {"MultiplicativeLR", native<multiplicative_lr>},
    {"ReduceLROnPlateau", native<reduce_lr_on_plateau>},
    {"SequentialLR", native<sequential_lr>},
};

}  // namespace

const HandleClass HandleOf<LrSchedulerPtr>::kClass = {"lr_scheduler", kLrSchedulerMetamethods};
const HandleClass HandleOf<PlateauPtr>::kClass = {"ReduceLROnPlateau", kPlateauMetamethods};

bool push_lr_scheduler_constructor(lua_State* L, std::string_view name) {
  const auto& rows = optim::all_lr_schedulers();
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const optim::LrSchedulerDef& known) {
    return known.name == name;
  });
  if (row == rows.end()) return false;
  OHM_ASSERT(rows.size() <= kLrSchedulerConstructors.size(),
             "more schedulers than numbered functions");
  lua_pushcfunction(L, kLrSchedulerConstructors[static_cast<std::size_t>(row - rows.begin())]);
  return true;
}

std::vector<std::string> lr_scheduler_names() {
  std::vector<std::string> names;
  for (const optim::LrSchedulerDef& row : optim::all_lr_schedulers()) names.emplace_back(row.name);
  return names;
}

std::span<const luaL_Reg> lr_scheduler_functions() { return kLrSchedulerFunctions; }

}  // namespace ohm::lua
