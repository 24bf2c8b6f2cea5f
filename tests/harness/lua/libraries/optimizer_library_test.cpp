// Parameter groups: what each has of its own, and what goes for all.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/harness/lua/script_test.h"

namespace ohm::test {
namespace {

class OptimizerLibrary : public ScriptTest {};

constexpr const char* kTwoGroups =
    "local a, b = ohm.nn.Parameter(ohm.ones(1)), ohm.nn.Parameter(ohm.ones(1))\n"
    "a.grad, b.grad = ohm.ones(1), ohm.ones(1)\n";

TEST_F(OptimizerLibrary, AGroupHasItsOwnOptions) {
  EXPECT_NEAR(
      number(std::string(kTwoGroups) +
             "local o = ohm.optim.SGD({{params = {a}, lr = 0.5}, {params = b}}, {lr = 0.1})\n"
             "o:step() return a:item()"),
      0.5, 1e-6);
  EXPECT_NEAR(number(std::string(kTwoGroups) +
                     "local o = ohm.optim.SGD({{params = {a}, lr = 0.5}, {params = b}}, 0.1)\n"
                     "o:step() return b:item()"),
              0.9, 1e-6);
  EXPECT_NEAR(number(std::string(kTwoGroups) +
                     "local o = ohm.optim.SGD({{params = {a}}, {params = {b}, weight_decay = 1}},\n"
                     "                        {lr = 0.1, weight_decay = 0})\n"
                     "o:step() return a:item() - b:item()"),
              0.1, 1e-6);
}

TEST_F(OptimizerLibrary, AGroupMayBeAddedLater) {
  const std::string added =
      std::string(kTwoGroups) + "local o = ohm.optim.SGD({a}, {lr = 0.1, weight_decay = 1})\n";
  EXPECT_NEAR(number(added + "o:add_param_group({params = b, lr = 0.5}) o:step() return b:item()"),
              0.0, 1e-6);  // 1 - 0.5 · (1 + 1)
  EXPECT_NEAR(number(added + "o:add_param_group({params = {b}}) o:step() return b:item()"), 0.8,
              1e-6);
  EXPECT_EQ(number(added + "o:add_param_group({params = {b}}) return #o.param_groups"), 2);
  EXPECT_EQ(number(added + "o:add_param_group({params = {b}})\n"
                           "local sum = 0 for i, g in pairs(o.param_groups) do sum = sum + i end\n"
                           "for i, g in ipairs(o.param_groups) do sum = sum + 10 * i end\n"
                           "assert(o.param_groups[3] == nil and o.param_groups.x == nil)\n"
                           "return sum + 100 * select('#', table.unpack(o.param_groups))"),
            233);
  EXPECT_THAT(error_of(added + "o:add_param_group({params = {a}})"),
              testing::HasSubstr("appear in more than one parameter group"));
  EXPECT_THAT(error_of(added + "o:add_param_group({params = {b}, rate = 1})"),
              testing::HasSubstr("has no argument 'rate'"));
  // Options of one group are not those of another.
  EXPECT_NEAR(number(std::string(kTwoGroups) +
                     "local o = ohm.optim.SGD({{params = {a}, lr = 0.5}}, {lr = 0.1})\n"
                     "o:add_param_group({params = {b}}) o:step() return b:item()"),
              0.9, 1e-6);
}

TEST_F(OptimizerLibrary, ChainedSchedulersStepTogether) {
  EXPECT_NEAR(number(std::string(kTwoGroups) +
                     "local o = ohm.optim.SGD({a}, {lr = 1})\n"
                     "local all = ohm.optim.lr_scheduler\n"
                     "local s = all.ChainedScheduler({all.StepLR(o, 1, 0.5),\n"
                     "                                all.ExponentialLR(o, 0.1)})\n"
                     "s:step() return s:get_last_lr()[1]"),
              0.05, 1e-9);
}

TEST_F(OptimizerLibrary, ShowsItsGroups) {
  EXPECT_EQ(number(std::string(kTwoGroups) +
                   "local o = ohm.optim.Adam({{params = {a}}, {params = {b}, lr = 0.5}})\n"
                   "return #o.param_groups == 2 and o.param_groups[2].lr == 0.5 and\n"
                   "       o.param_groups[2].params[1] == b and #o.params == 1"),
            1);
  EXPECT_NEAR(number(std::string(kTwoGroups) +
                     "local o = ohm.optim.SGD({{params = {a}}, {params = {b}}}, {lr = 0.1})\n"
                     "o.param_groups[2].lr = 0.7 o:step() return b:item()"),
              0.3, 1e-6);
}

TEST_F(OptimizerLibrary, ZeroGradAndStateAreOfAllGroups) {
  EXPECT_EQ(number(std::string(kTwoGroups) +
                   "local o = ohm.optim.SGD({{params = {a}}, {params = {b}}}, {lr = 0.1})\n"
                   "o:zero_grad() return a.grad == nil and b.grad == nil"),
            1);
  EXPECT_EQ(number(std::string(kTwoGroups) +
                   "local o = ohm.optim.Adam({{params = {a}}, {params = {b}}})\n"
                   "o:step() return #o:state_dict().state"),
            2);
}

TEST_F(OptimizerLibrary, SchedulersScaleTheRateOfEachGroup) {
  EXPECT_EQ(run(std::string(kTwoGroups) +
                "local o = ohm.optim.SGD({{params = {a}, lr = 1}, {params = {b}}}, {lr = 0.1})\n"
                "local s = ohm.optim.lr_scheduler.StepLR(o, 1, 0.5)\n"
                "s:step() return s:get_last_lr()")
                .size(),
            2U);
  EXPECT_NEAR(
      number(std::string(kTwoGroups) +
             "local o = ohm.optim.SGD({{params = {a}, lr = 1}, {params = {b}}}, {lr = 0.1})\n"
             "local s = ohm.optim.lr_scheduler.StepLR(o, 1, 0.5)\n"
             "s:step() return o.param_groups[2].lr / o.param_groups[1].lr"),
      0.1, 1e-9);
}

TEST_F(OptimizerLibrary, ASchedulersStateIsATable) {
  EXPECT_EQ(number(std::string(kTwoGroups) +
                   "local o = ohm.optim.SGD({{params = {a}, lr = 1}, {params = {b}}}, {lr = 0.1})\n"
                   "local s = ohm.optim.lr_scheduler.StepLR(o, 2, 0.5) s:step() s:step()\n"
                   "local state = s:state_dict()\n"
                   "return state.last_epoch == 2 and state.step_size == 2 and state.gamma == 0.5\n"
                   "       and state.base_lrs[1] == 1 and state._last_lr[1] == 0.5\n"
                   "       and #state.base_lrs == 2"),
            1);
}

// The optimizer has a state of its own: the rate stays until the next step.
TEST_F(OptimizerLibrary, ASchedulerGoesOnFromItsState) {
  EXPECT_EQ(
      number(std::string(kTwoGroups) +
             "local lr_scheduler = ohm.optim.lr_scheduler\n"
             "local function new()\n"
             "  local o = ohm.optim.SGD({a}, {lr = 1})\n"
             "  local parts = {lr_scheduler.ConstantLR(o, 0.5, 3), lr_scheduler.StepLR(o, 1)}\n"
             "  return o, lr_scheduler.SequentialLR(o, parts, {4})\n"
             "end\n"
             "local o, s = new() for _ = 1, 5 do s:step() end\n"
             "local resumed, other = new()\n"
             "other:load_state_dict(s:state_dict()) assert(resumed.lr == 0.5)\n"
             "resumed:load_state_dict(o:state_dict()) s:step() other:step()\n"
             "return o.lr == resumed.lr and other.last_epoch == 6"),
      1);
}

TEST_F(OptimizerLibrary, AStateOfAnotherSchedulerIsRefused) {
  const std::string scheduler =
      std::string(kTwoGroups) +
      "local o = ohm.optim.SGD({a}, {lr = 1}) local s = ohm.optim.lr_scheduler.StepLR(o, 2)\n";
  EXPECT_THAT(error_of(scheduler + "s:load_state_dict({T_max = 3})"),
              testing::HasSubstr("such a scheduler has no 'T_max'"));
  EXPECT_THAT(error_of(scheduler + "s:load_state_dict({step_size = 0})"),
              testing::HasSubstr("step_size must be from 1"));
  EXPECT_THAT(error_of(scheduler + "s:load_state_dict(3)"),
              testing::HasSubstr("must be a table that state_dict() returned"));
  EXPECT_THAT(error_of(scheduler + "local t = {} t._schedulers = {t} s:load_state_dict(t)"),
              testing::HasSubstr("a table that state_dict() returned"));
  EXPECT_THAT(error_of(scheduler + "s:load_state_dict({base_lrs = {1, 2}})"),
              testing::HasSubstr("2 numbers for 1 parameter groups"));
}

TEST_F(OptimizerLibrary, APlateauGoesOnFromItsState) {
  EXPECT_EQ(
      number(std::string(kTwoGroups) +
             "local Plateau = ohm.optim.lr_scheduler.ReduceLROnPlateau\n"
             "local o = ohm.optim.SGD({a}, {lr = 1}) local p = Plateau(o, {patience = 1})\n"
             "p:step(1) p:step(1)\n"
             "local other = Plateau(o, {mode = 'max'}) other:load_state_dict(p:state_dict())\n"
             "assert(other:state_dict().mode == 'min' and o.lr == 1)\n"
             "other:step(1) return o.lr"),
      0.1);
}

TEST_F(OptimizerLibrary, AScalersStateIsATable) {
  EXPECT_EQ(number("local s = ohm.amp.GradScaler({init_scale = 8}) local state = s:state_dict()\n"
                   "local t = ohm.amp.GradScaler() t:load_state_dict(state)\n"
                   "assert(state._growth_tracker == 0 and state.growth_interval == 2000)\n"
                   "return t:get_scale()"),
            8);
  EXPECT_EQ(number("return next(ohm.amp.GradScaler({enabled = false}):state_dict()) == nil"), 1);
  EXPECT_THAT(error_of("ohm.amp.GradScaler():load_state_dict({})"),
              testing::HasSubstr("The source state dict is empty"));
  EXPECT_THAT(error_of("ohm.amp.GradScaler():load_state_dict({scale = 2})"),
              testing::HasSubstr("'growth_factor' must be a number"));
}

TEST_F(OptimizerLibrary, AGroupMayBeEmpty) {
  for (const char* name : {"SGD", "Adam", "AdamW", "Adagrad", "RMSprop"}) {
    EXPECT_LT(number(std::string(kTwoGroups) + "local o = ohm.optim." + name +
                     "({{params = {}}, {params = {a, b}}, {params = {}}}, {lr = 0.1})\n"
                     "o:step() o:zero_grad() assert(#o.param_groups == 3) return a:item()"),
              1)
        << name;
  }
  EXPECT_THAT(error_of("ohm.optim.SGD({}, {lr = 0.1})"),
              testing::HasSubstr("got an empty parameter list"));
}

TEST_F(OptimizerLibrary, SaysWhatIsWrongWithAGroup) {
  EXPECT_THAT(error_of(std::string(kTwoGroups) + "ohm.optim.SGD({{params = {a}}, {params = {a}}})"),
              testing::HasSubstr("some parameters appear in more than one parameter group"));
  EXPECT_THAT(error_of(std::string(kTwoGroups) + "ohm.optim.SGD({{params = {a}}, b})"),
              testing::HasSubstr("'params[2]' must be a group"));
  EXPECT_THAT(error_of(std::string(kTwoGroups) + "ohm.optim.SGD({{lr = 1}})"),
              testing::HasSubstr("'params[1].params' must be a list of parameters"));
  EXPECT_THAT(error_of(std::string(kTwoGroups) + "ohm.optim.SGD({{params = {a}, rate = 1}})"),
              testing::HasSubstr("has no argument 'rate'"));
}

TEST_F(OptimizerLibrary, GroupsAreUpdatedOneAfterTheOther) {
  // What a group's update makes goes before the next group's state is made.
  EXPECT_EQ(number("local a = ohm.nn.Parameter(ohm.zeros(1 << 20, {device = 'cuda'}))\n"
                   "local b = ohm.nn.Parameter(ohm.zeros(1 << 20, {device = 'cuda'}))\n"
                   "a.grad, b.grad = ohm.zeros_like(a), ohm.zeros_like(b)\n"
                   "local o = ohm.optim.Adam({{params = {a}}, {params = {b}}})\n"
                   "ohm.cuda.reset_peak_memory_stats() o:step()\n"
                   "return ohm.cuda.max_memory_allocated() - ohm.cuda.memory_allocated()"),
            4 << 20);
}

// Two steps, a new optimizer that goes on from the state of the first, and one that does not.
TEST_F(OptimizerLibrary, AStateThatIsLoadedGoesOn) {
  EXPECT_EQ(
      text("local function step(w, optimizer) w.grad = ohm.ones(2) optimizer:step() end "
           "local function new(w) return ohm.optim.Adam({{params = {w}, lr = 0.5}}) end "
           "local a = ohm.zeros(2, {requires_grad = true}) local first = new(a) "
           "step(a, first) a.grad = nil step(a, first) "
           "local b = a:detach():clone():requires_grad_() local second = new(b) "
           "first.lr = 0.25 second:load_state_dict(first:state_dict()) "
           "assert(second.lr == 0.25 and second:state_dict().steps[1] == 2) "
           "assert(second:state_dict().state[1].exp_avg == first:state_dict().state[1].exp_avg)"
           " step(a, first) step(b, second) "
           "return tostring((a - b):abs():sum():item() < 0.2)"),
      "true");
}

// Of another device: a copy for the optimizer, beside the state that was loaded.
TEST_F(OptimizerLibrary, AStateThatIsLoadedIsCopiedToTheParametersDevice) {
  EXPECT_EQ(
      number("local w = ohm.zeros(256, {device = 'cuda', requires_grad = true}) "
             "local optimizer = ohm.optim.Adam({w}) "
             "local state = {state = {{exp_avg = ohm.ones(256), exp_avg_sq = ohm.ones(256)}}, "
             "steps = {3}} optimizer:load_state_dict(state) "
             "assert(optimizer:state_dict().state[1].exp_avg.device == 'cuda:0') "
             "return ohm.cuda.memory_allocated()"),
      3 * 1024);
}

TEST_F(OptimizerLibrary, AStepTakesAClosureAndReturnsItsLoss) {
  const std::string setup =
      "local w = ohm.ones(2, {requires_grad = true}) "
      "local o = ohm.optim.SGD({w}, {lr = 0.5}) "
      "local function closure() o:zero_grad() local loss = (w * w):sum() loss:backward() "
      "return loss end ";
  EXPECT_EQ(number(setup + "return o:step(closure):item()"), 2.0);
  EXPECT_EQ(number(setup + "o:step(closure) return w:sum():item()"), 0.0);
  EXPECT_THAT(error_of(setup + "o:step(3)"), testing::HasSubstr("a function or a module"));
  EXPECT_THAT(error_of(setup + "o:step(function() error('of its own') end)"),
              testing::HasSubstr("of its own"));
}

constexpr const char* kBowl =
    "local function closure_of(w, o) return function() o:zero_grad() "
    "local loss = ((w * w - ohm.tensor({2, 3})) * ohm.tensor({1, 4})):square():sum() "
    "loss:backward() return loss end end "
    "local function new(w) return ohm.optim.LBFGS({w}, {lr = 0.1, max_iter = 3, max_eval = 9}) end "
    "local w = ohm.ones(2, {requires_grad = true}) local first = new(w) "
    "first:step(closure_of(w, first)) ";

TEST_F(OptimizerLibrary, AStateOfLbfgsHasListsAndNumbers) {
  EXPECT_EQ(text(std::string(kBowl) +
                 "local state = first:state_dict() local own = state.state[1] "
                 "return table.concat({state.steps[1], math.tointeger(own.func_evals), "
                 "#own.old_dirs, #own.old_stps, #own.ro, #own.al, own.d:numel(), "
                 "own.prev_flat_grad:numel(), type(own.t)}, ' ')"),
            "3 3 2 2 2 2 2 2 number");
}

TEST_F(OptimizerLibrary, AStateOfLbfgsThatFitsNothingIsRefused) {
  const std::string loaded = std::string(kBowl) + "local state = first:state_dict() ";
  const std::string stepped = " first:load_state_dict(state) first:step(closure_of(w, first))";
  EXPECT_THAT(error_of(loaded + "state.state[1].ro = {}" + stepped),
              testing::HasSubstr("differ in length"));
  EXPECT_THAT(error_of(loaded + "state.state[1].d = nil" + stepped),
              testing::HasSubstr("the state is incomplete"));
  EXPECT_THAT(error_of(loaded + "state.state[1].ro = {ohm.zeros(0), ohm.zeros(0)}" + stepped),
              testing::HasSubstr("0 elements cannot be converted"));
  EXPECT_THAT(error_of(loaded + "state.state[1].old_dirs = 3" + stepped),
              testing::HasSubstr("old_dirs"));
}

TEST_F(OptimizerLibrary, LbfgsGoesOnFromALoadedState) {
  EXPECT_EQ(number(std::string(kBowl) +
                   "local other = ohm.ones(2, {requires_grad = true}) "
                   "local before = new(other) before:step(closure_of(other, before)) "
                   "local after = new(other) after:load_state_dict(before:state_dict()) "
                   "first:step(closure_of(w, first)) after:step(closure_of(other, after)) "
                   "assert(after:state_dict().state[1].func_evals == 6) "
                   "after.state = {} assert(not after:state_dict().state[1]) "
                   "return (w - other):abs():max():item()"),
            0.0);
}

TEST_F(OptimizerLibrary, AStateOfAnotherOptimizerIsRefused) {
  const std::string optimizer =
      "local w = ohm.zeros(2, {requires_grad = true}) local o = ohm.optim.Adam({w}) ";
  EXPECT_THAT(error_of(optimizer + "o:load_state_dict({state = {{}, {}}})"),
              testing::HasSubstr("doesn't match the size of optimizer's group"));
  EXPECT_THAT(error_of(optimizer + "o:load_state_dict({param_groups = {{lr = 1}, {lr = 1}}})"),
              testing::HasSubstr("a different number of parameter groups"));
}

}  // namespace
}  // namespace ohm::test
