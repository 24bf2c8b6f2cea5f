// Collectives of ranks, as a script calls them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/harness/lua/script_test.h"

namespace ohm::test {
namespace {

using testing::HasSubstr;

class CollectiveLibrary : public ScriptTest {
 protected:
  CollectiveLibrary() : ScriptTest({.gpus = 2, .values = ValueMode::keeps_values}) {}
};

// Rank r brings r + 1 or [10r, 10r + 1]; what each has in the end, of rank 0 and rank 1.
TEST_F(CollectiveLibrary, CollectivesMovePiecesBetweenRanks) {
  const auto on_both = [this](const std::string& body) {
    return text(
        "local results = ohm.distributed.spawn(2, function(rank)\n"
        "  local d, device = ohm.distributed, 'cuda:' .. rank\n"
        "  local one = ohm.full({1}, rank + 1.0, {device = device})\n"
        "  local two = ohm.tensor({10.0 * rank, 10.0 * rank + 1}, {device = device})\n"
        "  local got = ohm.zeros(2, {device = device})\n"
        "  local piece = ohm.zeros(1, {device = device})\n" +
        body +
        "  local parts = {}\n"
        "  for i, v in ipairs(ohm.cat({got, piece}):tolist()) do\n"
        "    parts[i] = string.format('%d', v)\n"
        "  end\n"
        "  return table.concat(parts, ' ')\n"
        "end) return results[1][1] .. ' | ' .. results[2][1]");
  };
  EXPECT_EQ(on_both("d.all_gather_into_tensor(got, one)\n"), "1 2 0 | 1 2 0");
  EXPECT_EQ(on_both("d.reduce_scatter_tensor(piece, two)\n"), "0 0 10 | 0 0 12");
  EXPECT_EQ(on_both("d.all_to_all_single(got, two)\n"), "0 10 0 | 1 11 0");
  EXPECT_EQ(on_both("d.all_to_all({got:narrow(0, 0, 1), got:narrow(0, 1, 1)}, {one, one + 4})\n"),
            "1 2 0 | 5 6 0");
  EXPECT_EQ(on_both("d.gather(one, rank == 1 and {got:narrow(0, 0, 1), got:narrow(0, 1, 1)} or "
                    "nil, 1)\n"),
            "0 0 0 | 1 2 0");
  EXPECT_EQ(on_both("d.scatter(piece, rank == 0 and {one, one + 4} or nil)\n"), "0 0 1 | 0 0 5");
  EXPECT_EQ(on_both("d.reduce(one, 1) piece = one\n"), "0 0 1 | 0 0 3");
}

// A process of its own is under no checkpoint, and what it computes is none of the function's.
TEST_F(CollectiveLibrary, RanksStartOutsideOfACheckpoint) {
  EXPECT_EQ(text("local checkpoint = ohm.utils.checkpoint.checkpoint\n"
                 "local function square(x) local y = x * 1 return y * x end\n"
                 "local times = 0\n"
                 "local function f(x)\n"
                 "  times = times + 1\n"
                 "  pcall(ohm.distributed.spawn, 1, function()\n"
                 "    local own = ohm.ones(2, {device = 'cuda', requires_grad = true})\n"
                 "    checkpoint(square, own, {use_reentrant = false}):sum():backward()\n"
                 "  end)\n"
                 "  return square(x)\n"
                 "end\n"
                 "local x = ohm.ones(2, {device = 'cuda', requires_grad = true})\n"
                 "checkpoint(f, x, {use_reentrant = false}):sum():backward()\n"
                 "return string.format('%d %g', times, x.grad:sum():item())"),
            "2 4");
}

TEST_F(CollectiveLibrary, PiecesHaveToFit) {
  EXPECT_THAT(error_of("ohm.distributed.spawn(2, function(rank) local x = ohm.zeros(3):cuda(rank) "
                       "ohm.distributed.all_to_all_single(x, x) end)"),
              HasSubstr("a multiple of 2 elements"));
  EXPECT_THAT(error_of("ohm.distributed.spawn(2, function(rank) local x = ohm.zeros(3):cuda(rank) "
                       "ohm.distributed.reduce(x, 2) end)"),
              HasSubstr("[reduce] rank 2 does not exist"));
}

// What both ranks return, of `body` in the function of a rank.
std::string ranks(const std::string& body) {
  return "local results = ohm.distributed.spawn(2, function(rank)\n"
         "  local dist, other = ohm.distributed, 1 - rank\n"
         "  local x = ohm.full({2}, rank + 1.0, {device = 'cuda'})\n"
         "  local y = ohm.zeros(2, {device = 'cuda'})\n" +
         body + "end) return tostring(results[1][1]) .. ' | ' .. tostring(results[2][1])";
}

TEST_F(CollectiveLibrary, SendsAndReceives) {
  EXPECT_EQ(text(ranks("if rank == 0 then dist.send(x, 1) return 'sent' end\n"
                       "local from = dist.recv(y, 0)\n"
                       "return string.format('%d of %d', y:sum():item(), from)\n")),
            "sent | 2 of 0");
  EXPECT_EQ(text(ranks("local a, b = dist.isend(x, other), dist.irecv(y, {src = other})\n"
                       "a:wait() b:wait()\n"
                       "return string.format('%d', y:sum():item())\n")),
            "4 | 2");
  EXPECT_EQ(text(ranks("local works = dist.batch_isend_irecv({dist.P2POp(dist.irecv, y, other),\n"
                       "  dist.P2POp(dist.isend, x, other)})\n"
                       "for _, work in ipairs(works) do work:wait() end\n"
                       "return string.format('%d %d', #works, y:sum():item())\n")),
            "1 4 | 1 2");
}

TEST_F(CollectiveLibrary, HandlesAreWaitedFor) {
  EXPECT_EQ(
      text(ranks("local work = dist.all_reduce(x, {op = dist.ReduceOp.MAX, async_op = true})\n"
                 "local waited = work:wait()\n"
                 "return string.format('%s %s %d', waited, work:is_completed(), "
                 "x:sum():item())\n")),
      "true true 4 | true true 4");
}

TEST_F(CollectiveLibrary, RanksOutsideOfAGroupDoNothing) {
  EXPECT_EQ(text(ranks("local group = dist.new_group({1})\n"
                       "local work = dist.all_reduce(x, {group = group, async_op = true})\n"
                       "dist.barrier(group)\n"
                       "return string.format('%d %d %s %d', dist.get_rank(group), "
                       "dist.get_world_size(group), work ~= nil, "
                       "dist.get_process_group_ranks(group)[1])\n")),
            "-1 -1 false 1 | 0 1 true 1");
}

TEST_F(CollectiveLibrary, RanksOfAProgramAreFoundInAGroup) {
  EXPECT_EQ(text(ranks("local group = dist.new_group({1})\n"
                       "if rank == 1 then dist.broadcast(x, 1, group) end\n"
                       "if rank == 1 then dist.broadcast(x, {group_src = 0, group = group}) end\n"
                       "return dist.get_group_rank(group, 1) .. dist.get_global_rank(group, 0)\n")),
            "01 | 01");
  EXPECT_THAT(error_of(ranks("local group = dist.new_group({1})\n"
                             "dist.broadcast(x, 0, group) dist.barrier()\n")),
              HasSubstr("[broadcast] rank 0 is none of the group's, which are rank 1"));
}

TEST_F(CollectiveLibrary, AllRanksAreAGroup) {
  EXPECT_EQ(text(ranks("dist.all_reduce(x, {group = dist.group.WORLD})\n"
                       "local world = dist.group.WORLD\n"
                       "return string.format('%d of %d: %d', world:rank(), world:size(), "
                       "x:sum():item())\n")),
            "0 of 2: 6 | 1 of 2: 6");
  EXPECT_EQ(text("return tostring(ohm.distributed.group.WORLD)"), "nil");
  EXPECT_THAT(error_of("ohm.distributed.group.WORLD = nil"), HasSubstr("cannot be set"));
}

TEST_F(CollectiveLibrary, GroupsAreLeft) {
  EXPECT_EQ(text(ranks("local before = dist.is_initialized()\n"
                       "dist.destroy_process_group()\n"
                       "return tostring(before) .. ' ' .. tostring(dist.is_initialized())\n")),
            "true false | true false");
  EXPECT_THAT(error_of(ranks("dist.destroy_process_group() dist.barrier()\n")),
              HasSubstr("[barrier] rank 0 has destroyed the group"));
}

TEST_F(CollectiveLibrary, BatchNormsBecomeOnesOfAllRanks) {
  // The mean over both ranks of the first channel is 1.5: the outputs of a rank are alike.
  EXPECT_EQ(
      text(ranks("local nn = ohm.nn\n"
                 "local model = nn.Sequential(nn.BatchNorm1d(2, {momentum = 1}), nn.Identity())\n"
                 "model = nn.convert_sync_batchnorm(model:cuda())\n"
                 "local out = model(x:view(1, 2):expand(3, 2))\n"
                 "return string.format('%s %.1f %.1f', tostring(model[1]):match('^%a+'), "
                 "out:max():item(), model[1].running_mean:max():item())\n")),
      "SyncBatchNorm -1.0 1.5 | SyncBatchNorm 1.0 1.5");
  EXPECT_EQ(
      text(ranks("local alone = dist.new_group({0})\n"
                 "local norm = ohm.nn.SyncBatchNorm(2, {process_group = alone, device = 'cuda'})\n"
                 "if rank == 1 then return 'idle' end\n"
                 "return string.format('%.1f', norm(x:view(1, 2):expand(3, 2)):max():item())\n")),
      "0.0 | idle");
}

TEST_F(CollectiveLibrary, RefusesWhatDoesNotFit) {
  const auto error = [this](const std::string& body) { return error_of(ranks(body + "\n")); };
  EXPECT_THAT(
      error("dist.recv(y, other)"),
      HasSubstr("[recv] no rank can go on: rank 0 waits in recv for rank 1, rank 1 waits in "
                "recv for rank 0"));
  EXPECT_THAT(error("dist.send(x)"), HasSubstr("[send] dst has to be given"));
  EXPECT_THAT(error("dist.send(x, 2)"), HasSubstr("[send] rank 2 does not exist"));
  EXPECT_THAT(error("dist.send(x, rank)"), HasSubstr("[send] rank 0 cannot send to itself"));
  EXPECT_THAT(error("dist.send(x, {dst = 1, group_dst = 1})"),
              HasSubstr("[send] dst and group_dst cannot both be given"));
  EXPECT_THAT(error("dist.all_reduce(x, {op = 'BAND'})"),
              HasSubstr("[all_reduce] op has to be one of ohm.distributed.ReduceOp: SUM, AVG"));
  EXPECT_THAT(error("dist.P2POp(dist.send, x, other)"),
              HasSubstr("[P2POp] op has to be ohm.distributed.isend or ohm.distributed.irecv"));
  EXPECT_THAT(error("dist.batch_isend_irecv({})"), HasSubstr("[batch_isend_irecv]"));
  EXPECT_THAT(error("dist.gather(x, {y, y}, 1)"),
              HasSubstr("[gather] gather_list has to be left out where rank is not dst"));
  EXPECT_THAT(error("dist.new_group({0, 2})"), HasSubstr("[new_group] rank 2 does not exist"));
  EXPECT_THAT(error_of("ohm.distributed.all_reduce(ohm.zeros(2))"),
              HasSubstr("[all_reduce] must be called inside ohm.distributed.spawn"));
}

}  // namespace
}  // namespace ohm::test
