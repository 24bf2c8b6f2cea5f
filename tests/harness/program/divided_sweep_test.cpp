// ohm sweep makes the same report however the work is divided: engines, jobs, shards.
#include <string>
#include <vector>

#include "tests/harness/program/program_test.h"
#include "tests/support/golden.h"

namespace ohm {
namespace {

using test::contains;

std::string seeded_bugs(const std::string& name) {
  return test::golden_path("sweep/" + name + ".lua");
}

using DividedSweep = test::ProgramTest;

TEST_F(DividedSweep, SaysTheSameWithAnyEngineAndAnyNumberOfJobs) {
  const std::vector<std::string> sweep = {
      "sweep", seeded_bugs("training"), seeded_bugs("memory"), "--points", "all", "--form", "both",
      "--json"};
  const auto with = [&](std::vector<std::string> options) {
    options.insert(options.begin(), sweep.begin(), sweep.end());
    return ohm(options).out;
  };
  const std::string one = with({"-j", "1"});
  EXPECT_TRUE(contains(one, "ohm.sweep/1"));
  EXPECT_EQ(with({"-j", "2"}), one);
  EXPECT_EQ(with({"-j", "2", "--engine", "exec"}), one);
}

TEST_F(DividedSweep, SaysTheSameByDefaultWithAnyEngineJobsAndShards) {
  const auto with = [&](std::vector<std::string> options) {
    options.insert(options.begin(),
                   {"sweep", seeded_bugs("models"), seeded_bugs("memory"), "--json"});
    return ohm(options).out;
  };
  const std::string one = with({"-j", "1"});
  EXPECT_TRUE(contains(one, "\"points\": \"spread\""));
  EXPECT_EQ(with({"-j", "2"}), one);
  EXPECT_EQ(with({"-j", "2", "--engine", "exec"}), one);
  folder_.write("one.json", with({"--shard", "1/2"}));
  folder_.write("two.json", with({"--shard", "2/2"}));
  EXPECT_EQ(ohm({"merge", "one.json", "two.json", "-o", "whole.json"}).code, 1);
  EXPECT_EQ(test::read_file(file("whole.json")), one);
}

}  // namespace
}  // namespace ohm
