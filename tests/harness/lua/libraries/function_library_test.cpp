// ohm.autograd.Function.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/harness/lua/script_test.h"

namespace ohm::test {
namespace {

using testing::HasSubstr;

class FunctionLibrary : public ScriptTest {};

constexpr const char* kExp =
    "local Exp = ohm.autograd.Function { "
    "forward = function(ctx, x) local y = x:exp() ctx:save_for_backward(y) return y end, "
    "backward = function(ctx, grad) return grad * ctx.saved_tensors[1] end} ";

TEST_F(FunctionLibrary, BackwardIsTheScripts) {
  EXPECT_NEAR(number(std::string(kExp) +
                     "local x = ohm.full({2}, 2, {dtype = ohm.float32, requires_grad = true}); "
                     "(Exp.apply(x) * 3):sum():backward() return x.grad:sum():item()"),
              2 * 3 * 7.38906, 1e-3);
}

TEST_F(FunctionLibrary, GradientsGoToTensorsAmongTheArguments) {
  EXPECT_EQ(number("local needs local Scale = ohm.autograd.Function { "
                   "forward = function(ctx, k, x, w) ctx.k = k ctx:save_for_backward(x, w) "
                   "  needs = ctx.needs_input_grad return x * w * k, 7 end, "
                   "backward = function(ctx, grad) local x, w = table.unpack(ctx.saved_tensors) "
                   "  return nil, grad * w * ctx.k, nil end} "
                   "local x = ohm.full({2}, 5, {dtype = ohm.float32, requires_grad = true}) "
                   "local y, seven = Scale.apply(10, x, ohm.full({2}, 3, {dtype = ohm.float32})) "
                   "y:sum():backward() assert(not needs[1] and needs[2] and not needs[3]) "
                   "return x.grad:sum():item() + 1000 * seven"),
            60 + 7000);
}

TEST_F(FunctionLibrary, SetupContextTakesThePlaceOfForwardsContext) {
  EXPECT_EQ(number("local Square = ohm.autograd.Function { "
                   "forward = function(x) return x * x end, "
                   "setup_context = function(ctx, inputs, y) ctx:save_for_backward(inputs[1]) end, "
                   "backward = function(ctx, grad) return grad * ctx.saved_tensors[1] * 2 end} "
                   "local x = ohm.full({3}, 4, {dtype = ohm.float32, requires_grad = true}) "
                   "Square.apply(x):sum():backward() return x.grad:sum():item()"),
            3 * 8);
}

TEST_F(FunctionLibrary, UnusedOutputsHaveGradientsOfZerosOrNone) {
  const std::string both =
      "local seen local Both = ohm.autograd.Function { "
      "forward = function(ctx, x, zeros) ctx:set_materialize_grads(zeros) return x + 1, x * 2 end, "
      "backward = function(ctx, a, b) seen = a == nil and -1 or a:sum():item() "
      "  return b, nil end} "
      "local x = ohm.ones(2, {requires_grad = true}) local _, b = Both.apply(x, ";
  EXPECT_EQ(number(both + "true) b:sum():backward() return seen"), 0);
  EXPECT_EQ(number(both + "false) b:sum():backward() return seen"), -1);
}

TEST_F(FunctionLibrary, WhatIsOnlyPassedOnIsAnotherTensorOnTheSameElements) {
  EXPECT_EQ(number("local Same = ohm.autograd.Function { "
                   "forward = function(_, x) return x end, "
                   "backward = function(_, grad) return grad * 5 end} "
                   "local x = ohm.ones(2, {requires_grad = true}) local y = Same.apply(x) "
                   "assert(not y:is_same(x) and y:data_ptr() == x:data_ptr() and x.is_leaf) "
                   "y:sum():backward() return x.grad:sum():item()"),
            10);
}

TEST_F(FunctionLibrary, WritesOverInputsThatItMarks) {
  const std::string twice =
      "local Twice = ohm.autograd.Function { "
      "forward = function(ctx, x) x:mul_(2) ctx:mark_dirty(x) return x end, "
      "backward = function(_, grad) return grad * 2 end} "
      "local x = ohm.ones(2, {requires_grad = true}) ";
  EXPECT_EQ(number(twice + "local h = x * 3 local y = Twice.apply(h) assert(y == h) "
                           "y:sum():backward() return x.grad:sum():item()"),
            2 * 6);
  EXPECT_THAT(error_of(twice + "Twice.apply(x)"), HasSubstr("leaf"));
}

TEST_F(FunctionLibrary, CanBeDifferentiatedAgain) {
  EXPECT_EQ(number("local Cube = ohm.autograd.Function { "
                   "forward = function(ctx, x) ctx:save_for_backward(x) return x * x * x end, "
                   "backward = function(ctx, grad) local x = ctx.saved_tensors[1] "
                   "  return grad * x * x * 3 end} "
                   "local x = ohm.full({1}, 5, {dtype = ohm.float32, requires_grad = true}) "
                   "local first = ohm.autograd.grad(Cube.apply(x):sum(), x, {create_graph = true}) "
                   "first:sum():backward() return x.grad:item()"),
            30);
}

// x, y and what is saved: 1 MiB each; after backward what was saved is gone.
TEST_F(FunctionLibrary, SavedTensorsAndFieldsLiveAsLongAsTheGraph) {
  constexpr std::int64_t kMiB = 1048576;
  const std::string kept =
      "local Kept = ohm.autograd.Function { "
      "forward = function(ctx, x) ctx:save_for_backward(x * 2) ctx.other = x * 3 "
      "  return x + 1 end, "
      "backward = function(ctx, grad) return grad * ctx.saved_tensors[1] end} "
      "local x = ohm.ones(262144, {device = 'cuda', requires_grad = true}) local y = "
      "Kept.apply(x) ";
  EXPECT_EQ(number(kept + "return ohm.cuda.memory_allocated()"), 4 * kMiB);
  EXPECT_EQ(number(kept + "y = nil return ohm.cuda.memory_allocated()"), kMiB);
  EXPECT_EQ(number(kept + "y:backward(ohm.ones_like(y)) return ohm.cuda.memory_allocated()"),
            4 * kMiB);  // x, y, its gradient and ctx.other, which stays with the node
  EXPECT_EQ(number(kept + "ohm.no_grad(function() y = Kept.apply(x) end) "
                          "return ohm.cuda.memory_allocated()"),
            2 * kMiB);
}

TEST_F(FunctionLibrary, MistakesAreNamed) {
  const std::string x = "local x = ohm.ones(2, {requires_grad = true}) ";
  EXPECT_THAT(error_of("ohm.autograd.Function {forward = function() end}"),
              HasSubstr("[Function] argument 'backward' must be a function"));
  EXPECT_THAT(error_of(x + "local F = ohm.autograd.Function {forward = function(_, a, b) "
                           "return a + b end, backward = function(_, g) return g end} "
                           "F.apply(x, x):sum():backward()"),
              HasSubstr("returned an incorrect number of gradients (expected 2, got 1)"));
  EXPECT_THAT(error_of(x + "local F = ohm.autograd.Function {forward = function(ctx, a) "
                           "return ctx.saved_tensors end, backward = function() end} F.apply(x)"),
              HasSubstr("saved_tensors are there while backward runs"));
}

}  // namespace
}  // namespace ohm::test
