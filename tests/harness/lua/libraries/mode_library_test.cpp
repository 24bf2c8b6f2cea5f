// no_grad and the like: what is switched on, for how long.
#include <gtest/gtest.h>

#include "tests/harness/lua/script_test.h"

namespace ohm::test {
namespace {

struct ModeCase {
  const char* name;
  const char* chunk;
};

class Modes : public ScriptTest, public testing::WithParamInterface<ModeCase> {};

TEST_P(Modes, AreWhatTheyShouldBe) {
  EXPECT_EQ(error_of(std::string("local function on() return ohm.is_grad_enabled() end\n") +
                     GetParam().chunk + "\nassert(on(), 'grad mode is left off')"),
            "");
}

constexpr ModeCase kModeCases[] = {
    {"AFunctionsResultsComeBack",
     "local a, b = ohm.no_grad(function(x, y) assert(not on()) return y, x end, 1, 2)\n"
     "assert(a == 2 and b == 1)"},
    {"AGuardEndsWithItsBlock", "do local _ <close> = ohm.no_grad() assert(not on()) end"},
    {"AnErrorEndsTheFunctionForm", "assert(not pcall(ohm.no_grad, function() error('x') end))"},
    {"AnErrorEndsTheGuard",
     "assert(not pcall(function() local _ <close> = ohm.no_grad() error('x') end))"},
    {"ModesNest",
     "ohm.no_grad(function() ohm.enable_grad(function() assert(on()) end) assert(not on()) end)"},
    {"GradCanBeSet",
     "ohm.set_grad_enabled(false, function() assert(not on()) end)\n"
     "do local _ <close> = ohm.set_grad_enabled(false) assert(not on()) end"},
    {"GradStaysAsItIsSet",
     "ohm.set_grad_enabled(false) assert(not on()) ohm.gc.collect() assert(not on())\n"
     "assert(not (ohm.ones(1, {requires_grad = true}) * 2).requires_grad)\n"
     "ohm.set_grad_enabled(true)"},
    {"GradSetInAFunctionStays",
     "local function off() local kept = ohm.set_grad_enabled(false) return 1 end\n"
     "off() ohm.gc.collect() assert(not on()) ohm.set_grad_enabled(true)"},
    {"GradSetUnderAGuardEndsWithIt",
     "do local _ <close> = ohm.no_grad() ohm.set_grad_enabled(true) assert(on()) end\n"
     "ohm.no_grad(function() ohm.set_grad_enabled(true) assert(on()) end) assert(on())\n"
     "ohm.enable_grad(function() ohm.set_grad_enabled(false) end)"},
    {"GradSetByAStatementCanBeGuardedLater",
     "local setting = ohm.set_grad_enabled(false) assert(not on())\n"
     "do local _ <close> = setting end assert(on())"},
    {"GradSetByAFunctionIsGuardedByItsCaller",
     "local function off() return ohm.set_grad_enabled(false) end\n"
     "do local _ <close> = off() assert(not on()) end"},
    {"GradSetByAProtectedCallStays",
     "assert(pcall(ohm.set_grad_enabled, false)) assert(not on()) ohm.set_grad_enabled(true)"},
    {"GradIsSetForACoroutinesCallerToo",
     "coroutine.wrap(function() ohm.set_grad_enabled(false) end)() ohm.gc.collect()\n"
     "assert(not on()) ohm.set_grad_enabled(true)"},
    {"ACoroutineThatIsDroppedLeavesGradOn",
     "local co = coroutine.wrap(function()\n"
     "  local _ <close> = ohm.set_grad_enabled(false) coroutine.yield() end)\n"
     "co() assert(not on()) co = nil"},
    {"GradIsSetForOneRank",
     "ohm.distributed.spawn(1, function() ohm.set_grad_enabled(false) assert(not on()) end)"},
    {"GuardsThatAreNotHeldSetNothing",
     "ohm.no_grad() ohm.inference_mode() assert(on() and not ohm.is_inference_mode_enabled())"},
    {"InferenceModeTurnsGradOff",
     "ohm.inference_mode(function()\n"
     "  assert(not on() and ohm.is_inference_mode_enabled()) end)\n"
     "assert(not ohm.is_inference_mode_enabled())"},
    {"NoOpRecordsInInferenceMode",
     "local w = ohm.ones(2):requires_grad_() ohm.inference_mode(function()\n"
     "  ohm.enable_grad(function() assert(on() and not (w * w).requires_grad) end) end)\n"
     "assert((w * w).requires_grad)"},
    {"AGuardThatIsNotHeldEnds", "ohm.no_grad()"},
    {"AGuardThatOutlivesAFunctionEndsWhenItIsDropped",
     "local kept\n"
     "ohm.no_grad(function() kept = ohm.enable_grad() assert(on()) end)\n"
     "kept = nil"},
    {"GuardsThatCloseInTheWrongOrderEndTogether",
     "local outer, inner = ohm.no_grad(), ohm.enable_grad()\n"
     "outer = nil ohm.gc.collect() assert(on())\n"
     "inner = nil"},
    {"ACoroutineThatIsDroppedLeavesNothingOn",
     "local co = coroutine.wrap(function()\n"
     "  local _ <close> = ohm.no_grad() coroutine.yield() end)\n"
     "co() assert(not on()) co = nil"},
    {"ACoroutineThatEndsRestores",
     "local co = coroutine.wrap(function()\n"
     "  local _ <close> = ohm.no_grad() coroutine.yield() end)\n"
     "co() assert(not on()) co()"},
    {"NothingIsRecordedUnderNoGrad",
     "local w = ohm.ones(2, {requires_grad = true})\n"
     "assert(not ohm.no_grad(function() return w * 2 end).requires_grad)\n"
     "assert((w * 2).requires_grad)"},
    {"AutocastEndsWithItsFunction",
     "local x = ohm.ones(2, 2, {device = 'cuda'})\n"
     "assert(ohm.autocast('cuda', {dtype = ohm.bfloat16}, function() return x:mm(x) end).dtype\n"
     "  == 'bfloat16')\n"
     "assert(x:mm(x).dtype == 'float32' and not ohm.is_autocast_enabled())"},
    {"AutocastHasAGuard",
     "local x = ohm.ones(2, 2, {device = 'cuda'})\n"
     "do\n"
     "  local _ <close> = ohm.autocast('cuda')\n"
     "  assert(x:mm(x).dtype == 'float16')\n"
     "  ohm.autocast({enabled = false}, function() assert(x:mm(x).dtype == 'float32') end)\n"
     "end\n"
     "assert(x:mm(x).dtype == 'float32')"},
    {"AutocastLetsItsCastsGo",
     "local w = ohm.ones(64, 64, {device = 'cuda', requires_grad = true})\n"
     "local before = ohm.cuda.memory_allocated()\n"
     "ohm.no_grad(function() ohm.autocast(function() w:mm(w) end) end)\n"
     "assert(ohm.cuda.memory_allocated() == before)"},
};

INSTANTIATE_TEST_SUITE_P(All, Modes, testing::ValuesIn(kModeCases),
                         [](const testing::TestParamInfo<ModeCase>& info) {
                           return info.param.name;
                         });

}  // namespace
}  // namespace ohm::test
