#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/harness/lua/script_test.h"

namespace ohm::test {
namespace {

using testing::HasSubstr;

class HookLibrary : public ScriptTest {};

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
  EXPECT_EQ(machine_.context().host.allocator->stats().allocated_bytes[0].peak, 3 * kMiB);
}

TEST_F(HookLibrary, SavedOnTheHostGradientsAreTheSame) {
  EXPECT_EQ(text("local x = ohm.randn(8, {device = 'cuda', requires_grad = true}) "
                 "local function loss() return (x:tanh() * x):sum() end loss():backward() "
                 "local plain = x.grad:tolist() x.grad = nil "
                 "local l = ohm.autograd.graph.save_on_cpu(loss) l:backward() "
                 "local same = true for i, v in ipairs(x.grad:tolist()) do same = same and v == "
                 "plain[i] end return tostring(same)"),
            "true");
}

}  // namespace
}  // namespace ohm::test
