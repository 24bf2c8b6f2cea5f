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

}  // namespace
}  // namespace ohm::test
