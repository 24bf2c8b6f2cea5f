// ohm.utils.checkpoint, as scripts use it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/harness/lua/script_test.h"

namespace ohm::test {
namespace {

constexpr const char* kPrelude =
    "local nn, F = ohm.nn, ohm.nn.functional\n"
    "local checkpoint = ohm.utils.checkpoint.checkpoint\n"
    "local checkpoint_sequential = ohm.utils.checkpoint.checkpoint_sequential\n"
    "local function same(a, b) return (a - b):abs():sum():item() == 0 end\n"
    "local function leaf(...)\n"
    "  return ohm.randn({...}, {device = 'cuda', requires_grad = true})\n"
    "end\n";

struct CheckpointCase {
  const char* name;
  const char* chunk;
};

class Checkpoints : public ScriptTest, public testing::WithParamInterface<CheckpointCase> {};

TEST_P(Checkpoints, AreWhatTheyShouldBe) {
  for (const char* variant : {"true", "false"}) {
    SCOPED_TRACE(variant);
    EXPECT_EQ(error_of(std::string(kPrelude) + "local options = {use_reentrant = " + variant +
                       "}\n" + GetParam().chunk),
              "");
  }
}

constexpr CheckpointCase kCheckpointCases[] = {
    {"AModuleIsAFunction",
     "local layer, x = nn.Linear(4, 4):cuda(), leaf(2, 4)\n"
     "checkpoint(layer, x, options):sum():backward()\n"
     "local checkpointed = layer.weight.grad\n"
     "layer:zero_grad() layer(x):sum():backward()\n"
     "assert(same(checkpointed, layer.weight.grad))"},
    {"ValuesThatAreNoTensorsGoInAndOut",
     "local calls = 0\n"
     "local function scale(x, factor, nothing, y)\n"
     "  calls = calls + 1\n"
     "  assert(factor == 3 and nothing == nil)\n"
     "  return x:exp() * factor, 'text', y:exp(), nil\n"
     "end\n"
     "local x, y = leaf(2), leaf(2)\n"
     "local a, text, b, nothing = checkpoint(scale, x, 3, nil, y, options)\n"
     "assert(text == 'text' and nothing == nil)\n"
     "ohm.sum(a + b):backward()\n"
     "assert(calls == 2)\n"
     "assert(same(y.grad, y:exp()))"},
    {"AnUnusedOutputCountsAsZeros",
     "local x = leaf(3)\n"
     "local used = checkpoint(function(v) return v:exp(), v:sin() end, x, options)\n"
     "used:sum():backward()\n"
     "assert(same(x.grad, x:exp()))"},
    {"WhatTheFunctionHoldsIsGoneAfterTheSecondRun",
     "local x = leaf(256, 256)\n"
     "local out = checkpoint(function(v)\n"
     "  local kept = v:exp()\n"
     "  local also = kept:exp()\n"
     "  return also:exp()\n"
     "end, x, options)\n"
     "out:sum():backward()\n"
     "x.grad = nil\n"
     "assert(ohm.cuda.memory_allocated() == 2 * 256 * 256 * 4)"},
    {"ClosuresMayCallModulesAndEachOther",
     "local first, second = nn.Linear(4, 4):cuda(), nn.Linear(4, 4):cuda()\n"
     "local x = leaf(2, 4)\n"
     "local function inner(v) return F.gelu(second(v)) end\n"
     "local function outer(v) return checkpoint(inner, first(v):exp(), options) * v end\n"
     "checkpoint(outer, x, options):sum():backward()\n"
     "local checkpointed = {x.grad, first.weight.grad, second.weight.grad}\n"
     "x.grad = nil first:zero_grad() second:zero_grad()\n"
     "ohm.sum(inner(first(x):exp()) * x):backward()\n"
     "assert(same(checkpointed[1], x.grad))\n"
     "assert(same(checkpointed[2], first.weight.grad))\n"
     "assert(same(checkpointed[3], second.weight.grad))"},
    {"AScriptsModuleCanBeInside",
     "local Block = nn.Module:extend('Block')\n"
     "function Block:__init() self.fc = nn.Linear(4, 4) end\n"
     "function Block:forward(x) return F.relu(self.fc(x)) + x end\n"
     "local net = nn.Sequential(Block(), Block(), Block()):cuda()\n"
     "local x = leaf(2, 4)\n"
     "checkpoint_sequential(net, 2, x, options):sum():backward()\n"
     "local checkpointed = net[1].fc.weight.grad\n"
     "net:zero_grad() net(x):sum():backward()\n"
     "assert(same(checkpointed, net[1].fc.weight.grad))"},
    {"SequentialTakesAList",
     "local x = leaf(3)\n"
     "local exp = function(v) return v:exp() end\n"
     "local runs = 0\n"
     "local counted = function(v) runs = runs + 1 return v:sin() end\n"
     "checkpoint_sequential({exp, counted, exp, counted}, 2, x, options):sum():backward()\n"
     "assert(runs == 3)"},
    {"ErrorsOfTheSecondRunReachTheCallerOfBackward",
     "local x, runs = leaf(3), 0\n"
     "local out = checkpoint(function(v)\n"
     "  runs = runs + 1\n"
     "  if runs == 2 then error('the second run') end\n"
     "  return v:exp()\n"
     "end, x, options)\n"
     "local ok, message = pcall(function() out:sum():backward() end)\n"
     "assert(not ok and tostring(message):find('the second run'), message)"},
    {"AnOutOfMemoryErrorOfTheSecondRunIsOne",
     "local x, runs = leaf(3), 0\n"
     "local out = checkpoint(function(v)\n"
     "  runs = runs + 1\n"
     "  if runs == 2 then ohm.empty(2 ^ 40 // 1 | 0, {device = 'cuda'}) end\n"
     "  return v:exp()\n"
     "end, x, options)\n"
     "local ok, e = pcall(function() out:sum():backward() end)\n"
     "assert(not ok and e.requested_bytes == 4 << 40)"},
};

INSTANTIATE_TEST_SUITE_P(All, Checkpoints, testing::ValuesIn(kCheckpointCases),
                         [](const auto& param) { return std::string(param.param.name); });

class CheckpointLibrary : public ScriptTest {};

TEST_F(CheckpointLibrary, IsReentrantUnlessToldOtherwise) {
  EXPECT_EQ(text(std::string(kPrelude) + "return checkpoint(nn.ReLU(), leaf(2)).grad_fn"),
            "CheckpointFunctionBackward");
  EXPECT_EQ(text(std::string(kPrelude) +
                 "return checkpoint(nn.ReLU(), leaf(2), {use_reentrant = false}).grad_fn"),
            "ReluBackward");
}

TEST_F(CheckpointLibrary, CanRunItsFunctionsToTheEnd) {
  const std::string ends =
      std::string(kPrelude) +
      "local function ends(enable)\n"
      "  local count, x = 0, leaf(2)\n"
      "  local y = ohm.utils.checkpoint.set_checkpoint_early_stop(enable, function()\n"
      "    return checkpoint(function(v)\n"
      "      local w = v:exp():sin()\n"
      "      count = count + 1\n"
      "      return w\n"
      "    end, x, {use_reentrant = false})\n"
      "  end)\n"
      "  y:sum():backward()\n"
      "  return count\n"
      "end\n";
  EXPECT_EQ(number(ends + "return ends(true)"), 1);
  EXPECT_EQ(number(ends + "return ends(false)"), 2);
}

TEST_F(CheckpointLibrary, SaysWhatIsWrong) {
  struct Row {
    const char* chunk;
    const char* message;
  };
  constexpr Row kRows[] = {
      {"checkpoint(3, leaf(2))",
       "[checkpoint] argument 'function' must be a function or a module, got 3"},
      {"checkpoint(nn.ReLU(), leaf(2), {reentrant = true})",
       "[checkpoint] has no argument 'reentrant'"},
      {"checkpoint_sequential(nn.ReLU(), 1, leaf(2))",
       "[checkpoint_sequential] argument 'functions' must be a Sequential or a list of functions "
       "and modules, got module"},
      {"checkpoint_sequential({nn.ReLU()}, 2, leaf(2))",
       "[checkpoint_sequential] 1 functions cannot be split into 2 segments"},
      {"checkpoint_sequential({nn.ReLU(), 4}, 2, leaf(2))",
       "[checkpoint_sequential] argument 'function' must be a function or a module, got 4"},
      {"checkpoint_sequential({nn.ReLU(), function() end}, 1, leaf(2))",
       "[checkpoint_sequential] every function must return one tensor, not 0"},
  };
  for (const Row& row : kRows) {
    EXPECT_THAT(error_of(std::string(kPrelude) + row.chunk), testing::HasSubstr(row.message));
  }
}

}  // namespace
}  // namespace ohm::test
