#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/harness/lua/script_test.h"

namespace ohm::test {
namespace {

using testing::HasSubstr;

class HookLibrary : public ScriptTest {};

TEST_F(HookLibrary, AForwardHookSeesAndReplacesTheOutput) {
  EXPECT_EQ(
      number("local net = ohm.nn.Sequential(ohm.nn.ReLU(), ohm.nn.ReLU()) local seen = 0 "
             "net[1]:register_forward_hook(function(module, inputs, output) "
             "  seen = seen + #inputs + (module == net[1] and 10 or 0) return output * 3 end) "
             "return net(ohm.ones(2)):sum():item() + 100 * seen"),
      6 + 100 * 11);
}

TEST_F(HookLibrary, APreHookReplacesTheInputs) {
  EXPECT_EQ(
      number("local relu = ohm.nn.ReLU() relu:register_forward_pre_hook("
             "function(_, inputs) return inputs[1] - 2 end) return relu(ohm.full({2}, 3)):sum()"
             ":item()"),
      2);
}

TEST_F(HookLibrary, HooksOfAScriptsModulesGetAllArguments) {
  EXPECT_EQ(number("local m = ohm.nn.Module{forward = function(_, x, k) return x * k, k end} "
                   "local got m:register_forward_pre_hook(function(_, inputs) "
                   "  return {inputs[1], inputs[2] + 1} end) "
                   "m:register_forward_hook(function(_, inputs, y, k) got = #inputs * 10 + k end) "
                   "local y, k = m(ohm.ones(2), 4) return y:sum():item() * 1000 + k * 100 + got"),
            10'000 + 500 + 25);
}

TEST_F(HookLibrary, ARemovedHookIsNotCalled) {
  EXPECT_EQ(number("local relu, calls = ohm.nn.ReLU(), 0 "
                   "local hook = relu:register_forward_hook(function() calls = calls + 1 end) "
                   "relu(ohm.ones(1)) hook:remove() hook:remove() relu(ohm.ones(1)) return calls"),
            1);
}

// One parameter of 4 KiB at a time instead of all gradients.
TEST_F(HookLibrary, AnOptimizerInBackwardKeepsOneGradientAtATime) {
  const std::string net =
      "local layers = {} for i = 1, 8 do layers[i] = ohm.nn.Linear(32, 32, {bias = false}) end "
      "local net = ohm.nn.Sequential(layers):cuda() local x = ohm.ones(1, 32, {device = 'cuda'}) ";
  EXPECT_EQ(number(net + "net(x):sum():backward() return ohm.cuda.memory_allocated()"),
            2 * 8 * 4096 + 512);
  EXPECT_EQ(number(net + "local steps = 0 for _, p in ipairs(net:parameters()) do "
                         "local optimizer = ohm.optim.SGD({p}, {lr = 0.1}) "
                         "p:register_post_accumulate_grad_hook(function(parameter) "
                         "optimizer:step() optimizer:zero_grad() steps = steps + 1 end) end "
                         "net(x):sum():backward() return ohm.cuda.memory_allocated() * 10 + steps"),
            (8 * 4096 + 512) * 10 + 8);
}

// ---- gradients ----------------------------------------------------------------------------------

constexpr const char* kInner =
    "local x = ohm.full({2}, 3, {dtype = ohm.float32, requires_grad = true}) local h = x * 2 ";

TEST_F(HookLibrary, AHookOfATensorSeesAndReplacesItsGradient) {
  EXPECT_EQ(number(std::string(kInner) +
                   "local seen h:register_hook(function(grad) seen = grad:sum():item() "
                   "return grad * 10 end); (h * 5):sum():backward() "
                   "return x.grad:sum():item() + 1000 * seen"),
            2 * 100 + 1000 * 10);
}

TEST_F(HookLibrary, HooksOfALeafRunBeforeItsGradientIsAddedUp) {
  EXPECT_EQ(
      number("local x = ohm.ones(2, {requires_grad = true}) local calls = 0 "
             "x:register_hook(function(grad) calls = calls + 1 return grad * 3 end) "
             "x:register_hook(function(grad) return grad + 1 end) "
             "x:sum():backward() x:sum():backward() return x.grad:sum():item() + 100 * calls"),
      2 * 2 * 4 + 200);
}

TEST_F(HookLibrary, ARemovedHookOfATensorIsNotCalled) {
  EXPECT_EQ(number("local x = ohm.ones(2, {requires_grad = true}) "
                   "local hook = x:register_hook(function(grad) return grad * 3 end) "
                   "hook:remove() hook:remove() x:sum():backward() return x.grad:sum():item()"),
            2);
}

TEST_F(HookLibrary, AHookMayNotChangeWhatAGradientIs) {
  EXPECT_THAT(error_of("local x = ohm.ones(2, {requires_grad = true}) "
                       "x:register_hook(function(grad) return grad:sum() end) x:sum():backward()"),
              HasSubstr("[register_hook] hook has changed what the gradient is"));
  EXPECT_THAT(error_of("ohm.ones(2):register_hook(function() end)"),
              HasSubstr("cannot register a hook on a tensor that doesn't require gradient"));
}

TEST_F(HookLibrary, TensorsInsideTheGraphKeepTheirGradientsWhereTheyAreAsked) {
  EXPECT_EQ(number(std::string(kInner) +
                   "h:register_hook(function(grad) return grad * 10 end) h:retain_grad() "
                   "local y = (h * 5):sum() y:backward({retain_graph = true}) y:backward() "
                   "assert(h.retains_grad and not x.retains_grad and not y.retains_grad) "
                   "return h.grad:sum():item()"),
            2 * 2 * 50);
  EXPECT_THAT(error_of("ohm.ones(2):retain_grad()"),
              HasSubstr("can't retain_grad on Tensor that has requires_grad=False"));
}

// The gradient is that of the tensor as it is, and the copy is the only one that stays.
TEST_F(HookLibrary, AKeptGradientFollowsATensorThatIsWrittenOver) {
  EXPECT_EQ(number(std::string(kInner) + "h:retain_grad() h:mul_(4) h:sum():backward() "
                                         "return h.grad:sum():item() + 100 * x.grad:sum():item()"),
            2 + 100 * 16);
  EXPECT_EQ(number("local x = ohm.ones(256, {device = 'cuda', requires_grad = true}) "
                   "local h = x * 2 h:retain_grad(); (h * 3):sum():backward() "
                   "return ohm.cuda.memory_allocated()"),
            4 * 1024);
}

// ---- backward passes of modules -----------------------------------------------------------------

constexpr const char* kLinear =
    "local linear = ohm.nn.Linear(2, 1, {bias = false}) "
    "ohm.nn.init.constant_(linear.weight, 3) "
    "local x = ohm.ones(1, 2, {requires_grad = true}) ";

TEST_F(HookLibrary, FullBackwardHooksSeeGradientsOfInputsAndOutputs) {
  EXPECT_EQ(number(std::string(kLinear) +
                   "local seen linear:register_full_backward_hook(function(m, inputs, outputs) "
                   "seen = (m == linear and 1 or 0) + 10 * inputs[1]:sum():item() + "
                   "1000 * outputs[1]:item() return {inputs[1] * 2} end); "
                   "(linear(x) * 5):sum():backward() return seen + 100000 * x.grad:sum():item()"),
            1 + 10 * 30 + 1000 * 5 + 100'000 * 60);
}

TEST_F(HookLibrary, FullBackwardPreHooksReplaceGradientsOfOutputs) {
  EXPECT_EQ(number(std::string(kLinear) +
                   "local hook = linear:register_full_backward_pre_hook(function(_, outputs) "
                   "return outputs[1] * 7 end) linear(x):sum():backward() hook:remove() "
                   "linear(x):sum():backward() return x.grad:sum():item()"),
            6 * 7 + 6);
}

TEST_F(HookLibrary, FullBackwardHooksOfAScriptsModulesHaveAPlaceForEachArgument) {
  EXPECT_EQ(number("local m = ohm.nn.Module{forward = function(_, k, x) return x * k end} "
                   "local seen m:register_full_backward_hook(function(_, inputs, outputs) "
                   "seen = (inputs[1] == nil and 1 or 0) + inputs[2]:sum():item() end) "
                   "local x = ohm.ones(2, {requires_grad = true}) m(4, x):sum():backward() "
                   "return seen"),
            1 + 8);
}

TEST_F(HookLibrary, WithoutGradientsOfInputsTheHookRunsWhenThoseOfOutputsAreThere) {
  EXPECT_EQ(number("local linear = ohm.nn.Linear(2, 1) local seen "
                   "linear:register_full_backward_hook(function(_, inputs, outputs) "
                   "seen = (inputs[1] == nil and 1 or 0) + 10 * outputs[1]:item() end) "
                   "linear(ohm.ones(1, 2)):sum():backward() return seen"),
            11);
}

TEST_F(HookLibrary, OnlyLeavesThatRequireAGradientAccumulateOne) {
  EXPECT_THAT(error_of("ohm.zeros(2):register_post_accumulate_grad_hook(function() end)"),
              HasSubstr("only leaves that require a gradient"));
}

TEST_F(HookLibrary, SavedTensorsArePackedAndUnpackedByTheScript) {
  EXPECT_EQ(number("local packed, unpacked = 0, 0 "
                   "local x = ohm.full({4}, 3, {dtype = ohm.float32, requires_grad = true}) "
                   "ohm.autograd.graph.saved_tensors_hooks("
                   "  function(t) packed = packed + 1 return {t:detach():half()} end, "
                   "  function(p) unpacked = unpacked + 1 return p[1]:float() end, "
                   "  function() (x * x):sum():backward() end) "
                   "return x.grad:sum():item() * 100 + packed * 10 + unpacked"),
            24 * 100 + 22);
}

// Three activations of 1 MiB each.
constexpr const char* kDeepNet =
    "local x = ohm.ones(262144, {device = 'cuda', requires_grad = true}) "
    "local function forward() return x:sigmoid():sigmoid():sigmoid() end ";

TEST_F(HookLibrary, SavedOnTheHostActivationsLeaveTheGpu) {
  constexpr std::int64_t kMiB = 1048576;
  EXPECT_EQ(
      number(std::string(kDeepNet) + "local y = forward() return ohm.cuda.memory_allocated()"),
      4 * kMiB);
  EXPECT_EQ(number(std::string(kDeepNet) + "local y = ohm.autograd.graph.save_on_cpu(forward) "
                                           "return ohm.cuda.memory_allocated()"),
            2 * kMiB);
  EXPECT_EQ(machine_.host().stats().allocated_bytes[0].peak, 3 * kMiB);
}

TEST_F(HookLibrary, SavedOnTheHostGradientsAreTheSame) {
  EXPECT_EQ(text("local x = ohm.randn(8, {device = 'cuda', requires_grad = true}) "
                 "local function loss() return (x:tanh() * x):sum() end loss():backward() "
                 "local plain = x.grad:tolist() x.grad = nil "
                 "local l = ohm.autograd.graph.save_on_cpu({pin_memory = true}, loss) l:backward() "
                 "local same = true for i, v in ipairs(x.grad:tolist()) do same = same and v == "
                 "plain[i] end return tostring(same)"),
            "true");
}

// ---- pinned memory ------------------------------------------------------------------------------

TEST_F(HookLibrary, PinnedMemoryIsAPowerOfTwoThatIsUsedAgain) {
  EXPECT_EQ(text("local x = ohm.zeros(300):pin_memory() "  // 1,200 bytes
                 "return tostring(x:is_pinned()) .. tostring(ohm.zeros(3):is_pinned()) .. "
                 "tostring(x:pin_memory() == x)"),
            "truefalsetrue");
  EXPECT_EQ(machine_.pinned().pinned_stats().reserved_bytes.current, 2048);
  EXPECT_EQ(number("local x = ohm.zeros(400):pin_memory() x = nil "
                   "local y = ohm.zeros(260):pin_memory() return 1"),
            1);
  EXPECT_EQ(machine_.pinned().pinned_stats().reserved_bytes.current, 2048);
  EXPECT_EQ(machine_.pinned().pinned_stats().segment.allocated, 1);
}

TEST_F(HookLibrary, PinnedMemoryWaitsForItsCopies) {
  const std::string pin = "local x = ohm.zeros(256):pin_memory() ";
  run(pin +
      "local y = x:to('cuda', {non_blocking = true}) x = nil y = ohm.zeros(256):pin_memory() "
      "return 1");
  EXPECT_EQ(machine_.pinned().pinned_stats().segment.current, 1);
  run("ohm.cuda._sleep(1000) " + pin +
      "local y = x:to('cuda', {non_blocking = true}) x = nil y = ohm.zeros(256):pin_memory() "
      "return 1");
  EXPECT_EQ(machine_.pinned().pinned_stats().segment.current, 2);
}

TEST_F(HookLibrary, APinnedCopyHasTheStridesOfItsTensor) {
  EXPECT_EQ(
      number("local x = ohm.arange(6):view(2, 3):t():pin_memory() "
             "return x:stride(0) * 100 + x:stride(1) * 10 + x:select(0, 2):select(0, 1):item()"),
      135);
}

TEST_F(HookLibrary, NonBlockingCopiesToTheHostArePinned) {
  EXPECT_EQ(text("local x = ohm.zeros(4, {device = 'cuda'}) return "
                 "tostring(x:to('cpu', {non_blocking = true}):is_pinned()) .. "
                 "tostring(x:cpu():is_pinned())"),
            "truefalse");
  EXPECT_THAT(error_of("ohm.zeros(2, {device = 'cuda'}):pin_memory()"),
              HasSubstr("only memory of the host can be pinned"));
}

// A blocking copy casts on the host, a non-blocking one on the GPU.
TEST_F(HookLibrary, ACopyThatCastsTakesATemporary) {
  const std::string x = "local x = ohm.zeros(262144, {dtype = ohm.uint8}) ";
  run(x + "x:to('cuda', ohm.float32) return 1");
  EXPECT_EQ(machine_.peak_bytes(), 1048576);
  EXPECT_EQ(machine_.host().stats().allocated_bytes[0].peak, 262144 + 1048576);
  run(x + "x:to('cuda', ohm.float32, {non_blocking = true}) return 1");
  EXPECT_EQ(machine_.peak_bytes(), 1048576 + 262144);
}

}  // namespace
}  // namespace ohm::test
