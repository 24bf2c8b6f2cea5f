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
#include "harness/lua/bind/scheduler_state.h"
#include "harness/lua/vm/interpreter.h"
#include "runtime/optim/lr_decay.h"
#include "runtime/optim/lr_scheduler.h"
#include "runtime/optim/lr_scheduler_list.h"
#include "runtime/optim/reduce_on_plateau.h"
#include "runtime/optim/sequential_lr.h"

namespace ohm::lua {

using optim::LrSchedulerPtr;
using optim::OptimizerPtr;
using optim::ReduceLrOnPlateau;

/// A scheduler of each parameter group.
struct GroupSchedulers {
  std::vector<LrSchedulerPtr> groups;
};
struct GroupPlateaus {
  std::vector<ReduceLrOnPlateau> groups;
};
using SchedulersPtr = std::shared_ptr<GroupSchedulers>;
using PlateauPtr = std::shared_ptr<GroupPlateaus>;

template <>
struct HandleOf<SchedulersPtr> {
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

// Of all groups: the first is the optimizer itself.
std::vector<OptimizerPtr> groups_of(const OptimizerPtr& optimizer) {
  std::vector<OptimizerPtr> groups = {optimizer};
  groups.insert(groups.end(), optimizer->further_groups().begin(),
                optimizer->further_groups().end());
  return groups;
}

/// make(group) for each parameter group of the optimizer.
template <class Make>
int push_schedulers(lua_State* L, const OptimizerPtr& optimizer, Make&& make) {
  const auto schedulers = std::make_shared<GroupSchedulers>();
  for (const OptimizerPtr& group : groups_of(optimizer)) schedulers->groups.push_back(make(group));
  push_handle<SchedulersPtr>(L, schedulers);
  return 1;
}

template <class Schedulers, class LastLr>
int push_lr_list(lua_State* L, const Schedulers& schedulers, LastLr&& last_lr) {
  lua_createtable(L, static_cast<int>(schedulers.size()), 0);
  lua_Integer number = 0;
  for (const auto& scheduler : schedulers) {
    lua_pushnumber(L, last_lr(scheduler));
    lua_rawseti(L, -2, ++number);
  }
  return 1;
}

// ---- methods ------------------------------------------------------------------------------------

const std::vector<LrSchedulerPtr>& schedulers(lua_State* L, std::string_view method) {
  return object_argument<GroupSchedulers>(L, 1, {method, "self"}).groups;
}

int scheduler_step(lua_State* L) {
  for (const LrSchedulerPtr& scheduler : schedulers(L, "step")) scheduler->step();
  return 0;
}

int get_last_lr(lua_State* L) {
  return push_lr_list(L, schedulers(L, "get_last_lr"),
                      [](const LrSchedulerPtr& scheduler) { return scheduler->last_lr(); });
}

optim::SchedulerGroups scheduler_groups(lua_State* L, std::string_view method) {
  optim::SchedulerGroups groups;
  for (const LrSchedulerPtr& scheduler : schedulers(L, method)) groups.push_back(scheduler.get());
  return groups;
}

int scheduler_state(lua_State* L) {
  return push_scheduler_state(L, optim::state_of(scheduler_groups(L, "state_dict")));
}

int load_scheduler_state(lua_State* L) {
  optim::load_state(scheduler_groups(L, "load_state_dict"), scheduler_state_argument(L, 2));
  return 0;
}

constexpr luaL_Reg kLrSchedulerMethods[] = {{"get_last_lr", native<get_last_lr>},
                                            {"load_state_dict", native<load_scheduler_state>},
                                            {"state_dict", native<scheduler_state>},
                                            {"step", native<scheduler_step>}};

int index_scheduler(lua_State* L) {
  if (string_argument(L, 2, {"lr_scheduler", "name"}) == "last_epoch") {
    lua_pushinteger(L, schedulers(L, "last_epoch")[0]->last_epoch());
    return 1;
  }
  return push_method(L, kLrSchedulerMethods, "lr_scheduler", {"last_epoch"});
}

constexpr luaL_Reg kLrSchedulerMetamethods[] = {
    {"__index", native<index_scheduler, Entry::access>}};

std::vector<ReduceLrOnPlateau>& plateaus(lua_State* L, std::string_view method) {
  return object_argument<GroupPlateaus>(L, 1, {method, "self"}).groups;
}

int plateau_step(lua_State* L) {
  const double metric = number_argument(L, 2, {"step", "metrics"});
  for (ReduceLrOnPlateau& plateau : plateaus(L, "step")) plateau.step(metric);
  return 0;
}

int plateau_lr(lua_State* L) {
  return push_lr_list(L, plateaus(L, "get_last_lr"),
                      [](const ReduceLrOnPlateau& plateau) { return plateau.last_lr(); });
}

optim::SchedulerGroups plateau_groups(lua_State* L, std::string_view method) {
  optim::SchedulerGroups groups;
  for (ReduceLrOnPlateau& plateau : plateaus(L, method)) groups.push_back(&plateau);
  return groups;
}

int plateau_state(lua_State* L) {
  return push_scheduler_state(L, optim::state_of(plateau_groups(L, "state_dict")));
}

int load_plateau_state(lua_State* L) {
  optim::load_state(plateau_groups(L, "load_state_dict"), scheduler_state_argument(L, 2));
  return 0;
}

constexpr luaL_Reg kPlateauMethods[] = {
    {"get_last_lr", native<plateau_lr>},
    {"load_state_dict", native<load_plateau_state>},
    {"state_dict", native<plateau_state>},
    {"step", native<plateau_step>},
};

int index_plateau(lua_State* L) { return push_method(L, kPlateauMethods, "ReduceLROnPlateau"); }

constexpr luaL_Reg kPlateauMetamethods[] = {{"__index", native<index_plateau, Entry::access>}};

// ---- constructors -------------------------------------------------------------------------------

int make_scheduler(lua_State* L, std::size_t number) {
  const optim::LrSchedulerDef& row = optim::all_lr_schedulers()[number];
  const OptimizerPtr optimizer = optimizer_argument(L, row.name);
  lua_remove(L, 1);
  const std::vector<ops::Value> values = read_parameters(L, row.name, row.params);
  return push_schedulers(L, optimizer,
                         [&](const OptimizerPtr& group) { return row.make(group, values); });
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
  const OptimizerPtr optimizer = optimizer_argument(L, "LambdaLR");
  const auto factor = factor_argument(L, "LambdaLR");
  return push_schedulers(
      L, optimizer, [&](const OptimizerPtr& group) { return optim::lambda_lr(group, factor); });
}

// Pushes the argument that stands at `index` or is named so.
void push_argument(lua_State* L, const NamedArguments& named, int index, std::string_view name) {
  if (!named.push(name)) lua_pushvalue(L, index);
}

// The list of schedulers at `list`.
std::vector<SchedulersPtr> schedulers_argument(lua_State* L, int list, std::string_view function) {
  if (lua_type(L, list) != LUA_TTABLE) {
    refuse_argument(L, list, {function, "schedulers"}, "a list of schedulers");
  }
  std::vector<SchedulersPtr> schedulers;
  const auto count = static_cast<lua_Integer>(lua_rawlen(L, list));
  for (lua_Integer i = 1; i <= count; ++i) {
    lua_rawgeti(L, list, i);
    object_argument<GroupSchedulers>(L, -1, {function, fmt::format("schedulers[{}]", i)});
    schedulers.push_back(*test_handle<SchedulersPtr>(L, -1));
    lua_pop(L, 1);
  }
  return schedulers;
}

// make(group, its schedulers) for each parameter group of the optimizer.
template <class Make>
int push_combined(lua_State* L, const OptimizerPtr& optimizer,
                  const std::vector<SchedulersPtr>& schedulers, Make&& make) {
  std::size_t number = 0;
  return push_schedulers(L, optimizer, [&](const OptimizerPtr& group) {
    std::vector<LrSchedulerPtr> of_group;
    for (const SchedulersPtr& each : schedulers) {
      // One of another optimizer, which is refused, may have fewer groups.
      of_group.push_back(each->groups[std::min(number, each->groups.size() - 1)]);
    }
    ++number;
    return make(group, std::move(of_group));
  });
}

// SequentialLR(optimizer, {schedulers}, {milestones}), or the lists by name.
int sequential_lr(lua_State* L) {
  constexpr std::string_view kLrSchedulerName = "SequentialLR";
  const OptimizerPtr optimizer = optimizer_argument(L, kLrSchedulerName);
  const NamedArguments named(L, kLrSchedulerName);
  constexpr std::string_view kNames[] = {"milestones", "schedulers"};
  named.check_names(kNames);
  push_argument(L, named, 2, "schedulers");
  const std::vector<SchedulersPtr> schedulers =
      schedulers_argument(L, lua_gettop(L), kLrSchedulerName);
  push_argument(L, named, 3, "milestones");
  const Shape milestones = sizes_argument(L, lua_gettop(L), {kLrSchedulerName, "milestones"});
  return push_combined(L, optimizer, schedulers, [&](const auto& group, auto of_group) {
    return optim::sequential_lr(group, std::move(of_group), {milestones.begin(), milestones.end()});
  });
}

// ChainedScheduler({schedulers} [, optimizer]): of one optimizer, which each of them knows.
int chained_scheduler(lua_State* L) {
  constexpr std::string_view kLrSchedulerName = "ChainedScheduler";
  const std::vector<SchedulersPtr> schedulers = schedulers_argument(L, 1, kLrSchedulerName);
  if (schedulers.empty()) {
    throw std::invalid_argument("[ChainedScheduler] needs at least one scheduler");
  }
  const auto chained = std::make_shared<GroupSchedulers>();
  for (std::size_t group = 0; group < schedulers.front()->groups.size(); ++group) {
    std::vector<LrSchedulerPtr> of_group;
    for (const SchedulersPtr& each : schedulers) {
      const OptimizerPtr& optimizer = schedulers.front()->groups[group]->optimizer_ptr();
      if (group >= each->groups.size() || each->groups[group]->optimizer_ptr() != optimizer) {
        throw std::invalid_argument(
            "[ChainedScheduler] expects all schedulers to belong to the same optimizer");
      }
      of_group.push_back(each->groups[group]);
    }
    const OptimizerPtr optimizer = of_group.front()->optimizer_ptr();
    chained->groups.push_back(optim::chained_lr(optimizer, std::move(of_group)));
  }
  push_handle<SchedulersPtr>(L, chained);
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
  const OptimizerPtr optimizer = optimizer_argument(L, kLrSchedulerName);
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
  const auto plateaus = std::make_shared<GroupPlateaus>();
  for (const OptimizerPtr& group : groups_of(optimizer)) {
    plateaus->groups.emplace_back(group, options);
  }
  push_handle<PlateauPtr>(L, plateaus);
  return 1;
}

constexpr luaL_Reg kLrSchedulerFunctions[] = {
    {"ChainedScheduler", native<chained_scheduler>},
    {"LambdaLR", native<lambda_lr>},
    {"ReduceLROnPlateau", native<reduce_lr_on_plateau>},
    {"SequentialLR", native<sequential_lr>},
};

}  // namespace

const HandleClass HandleOf<SchedulersPtr>::kClass = {"lr_scheduler", kLrSchedulerMetamethods};
const HandleClass HandleOf<PlateauPtr>::kClass = {"ReduceLROnPlateau", kPlateauMetamethods};

namespace {

bool push_constructor(lua_State* L, std::string_view name, bool is_of_averages) {
  const auto& rows = optim::all_lr_schedulers();
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const optim::LrSchedulerDef& known) {
    return known.name == name && known.is_of_averages == is_of_averages;
  });
  if (row == rows.end()) return false;
  OHM_ASSERT(rows.size() <= kLrSchedulerConstructors.size(),
             "more schedulers than numbered functions");
  lua_pushcfunction(L, kLrSchedulerConstructors[static_cast<std::size_t>(row - rows.begin())]);
  return true;
}

std::vector<std::string> constructor_names(bool are_of_averages) {
  std::vector<std::string> names;
  for (const optim::LrSchedulerDef& row : optim::all_lr_schedulers()) {
    if (row.is_of_averages == are_of_averages) names.emplace_back(row.name);
  }
  return names;
}

}  // namespace

bool push_lr_scheduler_constructor(lua_State* L, std::string_view name) {
  return push_constructor(L, name, false);
}
std::vector<std::string> lr_scheduler_names() { return constructor_names(false); }

bool push_averaging_scheduler(lua_State* L, std::string_view name) {
  return push_constructor(L, name, true);
}
std::vector<std::string> averaging_scheduler_names() { return constructor_names(true); }

std::span<const luaL_Reg> lr_scheduler_functions() { return kLrSchedulerFunctions; }

}  // namespace ohm::lua
