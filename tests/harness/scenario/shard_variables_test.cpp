#include "harness/scenario/shard_variables.h"

#include <gtest/gtest.h>

#include <map>
#include <stdexcept>
#include <string>

namespace ohm::engine {
namespace {

using Set = std::map<std::string, std::string>;

/// "2/5", or what is wrong.
std::string shard_text(const Set& set) {
  try {
    const Shard shard = shard_of_variables([&](const char* name) {
      const auto found = set.find(name);
      return found == set.end() ? nullptr : found->second.c_str();
    });
    return std::to_string(shard.index + 1) + "/" + std::to_string(shard.count);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
}

TEST(ShardVariables, AreThoseOfEachScheduler) {
  EXPECT_EQ(shard_text({{"SLURM_ARRAY_TASK_ID", "3"}, {"SLURM_ARRAY_TASK_COUNT", "7"}}), "4/7");
  EXPECT_EQ(shard_text({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "2"}}), "1/2");
  EXPECT_EQ(shard_text({{"TEST_SHARD_INDEX", "1"}, {"TEST_TOTAL_SHARDS", "2"}}), "2/2");
  EXPECT_EQ(shard_text({{"CI_NODE_INDEX", "1"}, {"CI_NODE_TOTAL", "4"}}), "1/4");
  EXPECT_EQ(shard_text({{"GTEST_SHARD_INDEX", "1"}, {"GTEST_TOTAL_SHARDS", "4"}}), "2/4");
}

TEST(ShardVariables, CountTheTasksOfAnArrayFromItsFirst) {
  const auto task = [](const char* id, const char* step) {
    return shard_text({{"SLURM_ARRAY_TASK_ID", id},
                       {"SLURM_ARRAY_TASK_COUNT", "4"},
                       {"SLURM_ARRAY_TASK_MIN", "1"},
                       {"SLURM_ARRAY_TASK_STEP", step}});
  };
  EXPECT_EQ(task("1", "1"), "1/4");
  EXPECT_EQ(task("4", "1"), "4/4");
  EXPECT_EQ(task("7", "2"), "4/4");
  EXPECT_EQ(
      task("5", "1"),
      "SLURM_ARRAY_TASK_ID (\"5\") is none of SLURM_ARRAY_TASK_COUNT (\"4\"), counted from 1");
  EXPECT_EQ(task("4", "2"),
            "SLURM_ARRAY_TASK_ID (\"4\") is none of SLURM_ARRAY_TASK_COUNT (\"4\"), counted from 1 "
            "by 2");
}

TEST(ShardVariables, OfTwoSchedulersTheOneThatCountsMoreThanOneIsMeant) {
  const Set array = {{"SLURM_ARRAY_TASK_ID", "3"}, {"SLURM_ARRAY_TASK_COUNT", "7"}};
  Set both = array;
  both.insert({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "1"}});
  EXPECT_EQ(shard_text(both), "4/7");
  both["SLURM_NTASKS"] = "2";
  EXPECT_EQ(shard_text(both),
            "SLURM_ARRAY_TASK_ID says 4/7 and SLURM_PROCID says 1/2: give the shard itself, as in "
            "--shard 2/5");
  EXPECT_EQ(shard_text({{"SLURM_PROCID", "0"},
                        {"SLURM_NTASKS", "1"},
                        {"CI_NODE_INDEX", "2"},
                        {"CI_NODE_TOTAL", "3"}}),
            "2/3");
}

TEST(ShardVariables, AreRefusedWhereTheyAreBroken) {
  EXPECT_EQ(shard_text({{"CI_NODE_INDEX", "1"}}),
            "CI_NODE_TOTAL (not set) is not a number from 0 on");
  EXPECT_EQ(shard_text({{"CI_NODE_TOTAL", "1"}}),
            "CI_NODE_INDEX (not set) is not a number from 0 on");
  EXPECT_EQ(shard_text({{"CI_NODE_INDEX", "0"}, {"CI_NODE_TOTAL", "4"}}),
            "CI_NODE_INDEX (\"0\") is none of CI_NODE_TOTAL (\"4\"), counted from 1");
  EXPECT_EQ(shard_text({{"TEST_SHARD_INDEX", "-1"}, {"TEST_TOTAL_SHARDS", "4"}}),
            "TEST_SHARD_INDEX (\"-1\") is not a number from 0 on");
  EXPECT_EQ(shard_text({{"TEST_SHARD_INDEX", ""}, {"TEST_TOTAL_SHARDS", "4"}}),
            "TEST_SHARD_INDEX (\"\") is not a number from 0 on");
  EXPECT_EQ(shard_text({{"TEST_SHARD_INDEX", "0"}, {"TEST_TOTAL_SHARDS", "0"}}),
            "TEST_SHARD_INDEX (\"0\") is none of TEST_TOTAL_SHARDS (\"0\"), counted from 0");
}

TEST(ShardVariables, AreAllNamedWhereNoneIsSet) {
  EXPECT_EQ(shard_text({}),
            "no variable says which shard this is; looked for SLURM_ARRAY_TASK_ID of "
            "SLURM_ARRAY_TASK_COUNT, SLURM_PROCID of SLURM_NTASKS, TEST_SHARD_INDEX of "
            "TEST_TOTAL_SHARDS, CI_NODE_INDEX of CI_NODE_TOTAL, GTEST_SHARD_INDEX of "
            "GTEST_TOTAL_SHARDS");
}

}  // namespace
}  // namespace ohm::engine
