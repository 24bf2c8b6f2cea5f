#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/harness/lua/script_test.h"

namespace ohm::test {
namespace {

using testing::HasSubstr;

class FuncLibrary : public ScriptTest {};

TEST_F(FuncLibrary, AModuleIsCalledWithOtherParametersAndHasItsOwnAfterwards) {
  EXPECT_EQ(number("local net = ohm.nn.Linear(2, 1, {bias = false}) "
                   "net.weight.data = ohm.full({1, 2}, 1.0) "
                   "local y = ohm.func.functional_call(net, {weight = ohm.full({1, 2}, 3.0)}, "
                   "                                   {ohm.ones(1, 2)}) "
                   "return y:item() * 10 + net(ohm.ones(1, 2)):item()"),
            62);
}

TEST_F(FuncLibrary, ANameThatTheModuleDoesNotHaveIsRefused) {
  EXPECT_THAT(error_of("local net = ohm.nn.Linear(2, 1) "
                       "ohm.func.functional_call(net, {weights = ohm.ones(1, 2)}, ohm.ones(1, 2))"),
              HasSubstr("Linear has no parameter or buffer 'weights'"));
}

TEST_F(FuncLibrary, GradLeavesNoGradientAndNoGraphBehind) {
  EXPECT_EQ(number("local x = ohm.full({3}, 2.0) "
                   "local g = ohm.func.grad(function(x) return (x * x):sum() end)(x) "
                   "return g:sum():item() + (g.requires_grad and 100 or 0) + "
                   "       (x.requires_grad and 1000 or 0)"),
            12);
}

TEST_F(FuncLibrary, GradOfGradIsTheSecondDerivative) {
  EXPECT_EQ(number("local f = function(x) return x * x * x end "
                   "return ohm.func.grad(ohm.func.grad(f))(ohm.tensor(2.0)):item()"),
            12);
}

TEST_F(FuncLibrary, GradientsOfTheProgramGoThroughGrad) {
  EXPECT_EQ(number("local w = ohm.tensor(3.0, {requires_grad = true}) "
                   "local g = ohm.func.grad(function(x) return w * x * x end)(ohm.tensor(2.0)) "
                   "g:backward() return w.grad:item()"),
            4);
}

TEST_F(FuncLibrary, ArgnumsAndAuxiliaryResults) {
  EXPECT_EQ(number("local f = function(p, x) return (p.w * x):sum(), x end "
                   "local g, value, x = ohm.func.grad_and_value(f, {argnums = {0, 1}, "
                   "has_aux = true})({w = ohm.full({2}, 3.0)}, ohm.full({2}, 5.0)) "
                   "return g[1].w:sum():item() + 100 * g[2]:sum():item() + "
                   "       10000 * value:item() + x:sum():item() / 100"),
            10 + 600 + 300'000 + 0.1);
}

TEST_F(FuncLibrary, PerSampleGradientsAreThoseOfOneSampleAfterTheOther) {
  EXPECT_EQ(
      number("local w = ohm.randn(3, 2) local x = ohm.randn(4, 3) "
             "local y = ohm.tensor({0, 1, 1, 0}) "
             "local loss = function(w, x, y) return ohm.nn.functional.cross_entropy("
             "  ohm.matmul(x:unsqueeze(0), w), y:unsqueeze(0)) end "
             "local grad = ohm.func.grad(loss) "
             "local all = ohm.func.vmap(grad, {in_dims = {false, 0, 0}})(w, x, y) "
             "local chunks = ohm.vmap(grad, {in_dims = {false, 0, 0}, chunk_size = 3})"
             "(w, x, y) local most = 0 "
             "for i = 0, 3 do local one = grad(w, x:select(0, i), y:select(0, i)) "
             "  for _, each in ipairs({all, chunks}) do "
             "    most = math.max(most, (each:select(0, i) - one):abs():max():item()) end end "
             "return most < 1e-6 and all:size(0) * 10 + all:dim() or most"),
      43);
}

TEST_F(FuncLibrary, OutDimsPutTheSamplesElsewhere) {
  EXPECT_EQ(number("local f = ohm.vmap(function(x) return x * 2 end, {in_dims = 1, out_dims = 1}) "
                   "local x = ohm.randn(2, 5) local y = f(x) "
                   "return (y - x * 2):abs():max():item() + y:size(0) * 10 + y:size(1)"),
            25);
}

TEST_F(FuncLibrary, AJacobianHasTheDimensionsOfResultAndArgument) {
  EXPECT_EQ(number("local a = ohm.tensor({{1.0, 2.0}, {3.0, 4.0}, {5.0, 6.0}}) "
                   "local j = ohm.func.jacrev(function(x) return ohm.matmul(x:unsqueeze(0), a:t())"
                   ":squeeze(0) end)(ohm.ones(2)) "
                   "return (j - a):abs():max():item() + j:size(0) * 10 + j:size(1)"),
            32);
}

TEST_F(FuncLibrary, StackedModelsRunAtOnce) {
  EXPECT_EQ(
      number("local models = {ohm.nn.Linear(3, 2), ohm.nn.Linear(3, 2)} "
             "local params = ohm.func.stack_module_state(models) local x = ohm.randn(4, 3) "
             "local f = function(p, x) return ohm.func.functional_call(models[1], p, x) end "
             "local most <const> = ohm.no_grad(function() "
             "  local y = ohm.vmap(f, {in_dims = {0, false}})(params, x) local most = 0 "
             "  for i = 1, 2 do most = math.max(most, "
             "    (y:select(0, i - 1) - models[i](x)):abs():max():item()) end return most end) "
             "return most < 1e-6 and 1 or most"),
      1);
}

TEST_F(FuncLibrary, WhatVmapDoesNotKnowIsRefusedByItsName) {
  EXPECT_THAT(error_of("ohm.vmap(function(x) return x:cumsum(0) end)(ohm.ones(2, 3))"),
              HasSubstr("vmap has no batching rule for cumsum"));
  EXPECT_THAT(error_of("local net = ohm.nn.BatchNorm1d(3) ohm.vmap(net)(ohm.ones(2, 4, 3))"),
              HasSubstr("vmap has no batching rule for BatchNorm1d"));
  EXPECT_THAT(error_of("ohm.vmap(function(x) return x:item() end)(ohm.ones(2))"),
              HasSubstr("vmap has no batching rule for item"));
  EXPECT_THAT(error_of("ohm.vmap(function(x) return x + ohm.randn(3) end)(ohm.ones(2, 3))"),
              HasSubstr("randomness='error'"));
}

TEST_F(FuncLibrary, AGraphFromOutsideOfVmapIsRefused) {
  EXPECT_THAT(
      error_of("ohm.vmap(function(x) return x * 2 end)(ohm.ones(2, {requires_grad = true}))"),
      HasSubstr("requires a gradient"));
}

}  // namespace
}  // namespace ohm::test
