// The default of ohm sweep finds the seeded bugs of tests/recovery_bugs, and calls nothing else
// wrong.
#include "tests/harness/sweep/recovery_bugs.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace ohm::test {
namespace {

TEST(RecoveryBugs, AreFoundByDefaultAndNothingElseIs) {
  const std::vector<RecoveryProgram> programs = recovery_programs(OHM_RECOVERY_BUGS);
  engine::SweepOptions options;
  options.run.jobs = 2;
  const CorpusSweep sweep = sweep_corpus(programs, options);
  for (const RecoveryProgram& program : programs) {
    if (!program.is_bug()) {
      EXPECT_TRUE(sweep.is_clean(program)) << program.file << ": " << program.name;
      continue;
    }
    const bool is_meant_to_be = program.not_found.empty() && program.not_by_default.empty();
    EXPECT_EQ(sweep.finds(program), is_meant_to_be)
        << program.file << ": " << program.name << " is " << program.verdict << ": " << program.bug;
  }
}

/// With two failures in a row and no values to compare, what is right is right.
TEST(RecoveryBugs, CorrectProgramsAreRightInChainsWithoutValuesToo) {
  std::vector<RecoveryProgram> programs = recovery_programs(OHM_RECOVERY_BUGS);
  programs.erase(std::remove_if(programs.begin(), programs.end(),
                                [](const RecoveryProgram& one) { return one.is_bug(); }),
                 programs.end());
  engine::SweepOptions options;
  options.run.jobs = 2;
  options.run.size_only = true;
  options.trials.depth = 2;
  const CorpusSweep sweep = sweep_corpus(programs, options);
  for (const RecoveryProgram& program : programs) {
    EXPECT_EQ(sweep.is_clean(program), program.needs_values.empty())
        << program.file << ": " << program.name;
  }
}

TEST(RecoveryBugs, AreAtLeastAHundredProgramsWithThoseThatHaveNone) {
  const std::vector<RecoveryProgram> programs = recovery_programs(OHM_RECOVERY_BUGS);
  EXPECT_GE(programs.size(), 100U);
  const auto correct = std::count_if(programs.begin(), programs.end(),
                                     [](const RecoveryProgram& one) { return !one.is_bug(); });
  EXPECT_GE(correct, 30);
}

}  // namespace
}  // namespace ohm::test
