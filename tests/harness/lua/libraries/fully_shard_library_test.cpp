// fully_shard, as a script calls it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/harness/lua/script_test.h"

namespace ohm::test {
namespace {

using testing::HasSubstr;

class FullyShardLibrary : public ScriptTest {
 protected:
  FullyShardLibrary() : ScriptTest({.gpus = 2, .values = ValueMode::keeps_values}) {}

  static std::string on_ranks(const std::string& body) {
    return "local results = ohm.distributed.spawn(2, function(rank)\n"
           "  local nn, fully_shard = ohm.nn, ohm.distributed.fully_shard\n" +
           body + "end)\n";
  }
};

TEST_F(FullyShardLibrary, AModuleOfAScriptIsWholeWhileItRuns) {
  EXPECT_EQ(text(on_ranks("  local Net = nn.Module:extend('Net')\n"
                          "  function Net:__init() self.layer = nn.Linear(4, 6) end\n"
                          "  function Net:forward(inputs)\n"
                          "    self.rows = self.layer.weight:size(0)\n"
                          "    return {out = {self.layer(inputs.x)}}\n"
                          "  end\n"
                          "  local net = fully_shard(Net():cuda())\n"
                          "  local before = net.layer.weight:size(0)\n"
                          "  local result = net {x = ohm.ones(2, 4, {device = 'cuda'})}\n"
                          "  result.out[1]:sum():backward()\n"
                          "  local parts = net.layer.weight.grad.shape\n"
                          "  return string.format('%d %d %d', before, net.rows, parts[1])\n") +
                 "return results[1][1] .. ' | ' .. results[2][1]"),
            "3 6 3 | 3 6 3");
}

TEST_F(FullyShardLibrary, InputsInTablesAreCastInACopy) {
  EXPECT_EQ(text(on_ranks("  local Net = nn.Module:extend('Net')\n"
                          "  function Net:__init() self.layer = nn.Linear(4, 6) end\n"
                          "  function Net:forward(inputs) return self.layer(inputs.x) end\n"
                          "  local policy = {param_dtype = ohm.bfloat16}\n"
                          "  local net = fully_shard(Net():cuda(), {mp_policy = policy})\n"
                          "  local inputs = {x = ohm.ones(2, 4, {device = 'cuda'})}\n"
                          "  local y = net(inputs)\n"
                          "  return tostring(y.dtype) .. ' ' .. tostring(inputs.x.dtype)\n") +
                 "return results[1][1]"),
            "bfloat16 float32");
}

TEST_F(FullyShardLibrary, SaysWhatIsWrong) {
  EXPECT_THAT(error_of("ohm.distributed.fully_shard(ohm.nn.Linear(2, 2))"),
              HasSubstr("call it inside distributed.spawn"));
  EXPECT_THAT(error_of(on_ranks("fully_shard(nn.ModuleList{nn.Linear(2, 2)})")),
              HasSubstr("a ModuleList is never called itself"));
  EXPECT_THAT(error_of(on_ranks("fully_shard(nn.Linear(2, 2), {reshard_after_forward = 2})")),
              HasSubstr("argument 'reshard_after_forward' must be"));
  EXPECT_THAT(error_of(on_ranks("fully_shard(nn.Linear(2, 2), {mp_policy = {dtype = 1}})")),
              HasSubstr("'dtype'"));
  EXPECT_THAT(
      error_of(on_ranks("fully_shard(nn.Linear(2, 2), {mp_policy = {param_dtype = ohm.int64}})")),
      HasSubstr("param_dtype must be a floating dtype, got int64"));
  EXPECT_THAT(error_of(on_ranks("nn.Linear(2, 2):unshard()")),
              HasSubstr("ohm.distributed.fully_shard was not called on this module"));
}

TEST_F(FullyShardLibrary, AModuleWhoseRanksHaveEndedIsRefused) {
  EXPECT_THAT(error_of(on_ranks("  return fully_shard(nn.Linear(4, 2):cuda())\n") +
                       "results[1][1](ohm.ones(1, 4, {device = 'cuda'}))"),
              HasSubstr("have ended"));
}

TEST_F(FullyShardLibrary, AGradientIsReducedWhenAPassIsToDoSo) {
  EXPECT_EQ(text(on_ranks("  local net = fully_shard(nn.Linear(4, 2):cuda())\n"
                          "  local x = ohm.full({1, 4}, rank + 1.0, {device = 'cuda'})\n"
                          "  net:set_requires_gradient_sync(false)\n"
                          "  net(x):sum():backward()\n"
                          "  local first = net.weight.grad == nil\n"
                          "  net:set_requires_gradient_sync(true)\n"
                          "  net(x):sum():backward()\n"
                          "  return tostring(first) .. ' ' .. net.weight.grad:sum():item()\n") +
                 "return results[1][1] .. ' | ' .. results[2][1]"),
            "true 12.0 | true 12.0");
}

TEST_F(FullyShardLibrary, AStepThatFailedIsGivenUp) {
  EXPECT_EQ(text("local results = {}\n"
                 "local ok = pcall(ohm.distributed.spawn, 1, function()\n"
                 "  local nn, fully_shard = ohm.nn, ohm.distributed.fully_shard\n"
                 "  local net = nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 2)):cuda()\n"
                 "  for i = 1, 2 do fully_shard(net[i]) end\n"
                 "  fully_shard(net)\n"
                 "  local x = ohm.ones(3, 8, {device = 'cuda'})\n"
                 "  local y = net(x)\n"
                 "  results[1] = pcall(function()\n"
                 "    y:register_hook(function() error('no memory') end)\n"
                 "    y:sum():backward()\n"
                 "  end)\n"
                 "  net:reset_iter_state()\n"
                 "  results[2] = net[1].weight:size(0)\n"
                 "  net(x):sum():backward()\n"
                 "  results[3] = net[1].weight.grad ~= nil\n"
                 "end)\n"
                 "return string.format('%s %s %s %s', ok, results[1], results[2], results[3])"),
            "true false 8 true");
}

}  // namespace
}  // namespace ohm::test
