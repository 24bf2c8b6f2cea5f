// ohm replay --checkpoint: what is predicted is what PyTorch allocated in the same jobs,
// checkpointed (tests/with_torch/programs/checkpointed.py).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "harness/replay/replay_file.h"
#include "tests/support/checkout_paths.h"

namespace ohm::engine {
namespace {

struct Job {
  std::string name;
  std::uint64_t plain_peak_bytes = 0;
  std::uint64_t checkpointed_peak_bytes = 0;
};

std::vector<Job> jobs() {
  std::ifstream file(OHM_RECORDINGS_DIR "/checkpointed_jobs/peaks.tsv");
  std::vector<Job> all;
  for (Job job; file >> job.name >> job.plain_peak_bytes >> job.checkpointed_peak_bytes;) {
    all.push_back(job);
  }
  return all;
}

ReplayOptions options_of(const std::string& name, const std::string& pattern) {
  ReplayOptions options;
  options.file = OHM_RECORDINGS_DIR "/checkpointed_jobs/" + name + ".pickle";
  options.checkpoints = {pattern};
  return options;
}

std::string refusal(const ReplayOptions& options) {
  try {
    replay_file(options);
  } catch (const ReplayError& error) {
    return error.what();
  }
  return "";
}

bool is_refused(const std::string& error, const std::string& why) {
  return error.find(why) != std::string::npos;
}

TEST(CheckpointedModules, HaveThePeaksThatPyTorchMeasured) {
  std::size_t predicted = 0;
  const std::vector<Job> all = jobs();
  ASSERT_FALSE(all.empty());
  for (const Job& job : all) {
    const ReplayOptions options = options_of(job.name, "Net.blocks.*");
    if (const std::string error = refusal(options); !error.empty()) {
      EXPECT_TRUE(is_refused(error, "the peak would be")) << error;
      std::cout << error << "\n";
      continue;
    }
    ++predicted;
    for (const WhatIfRow& row : replay_file(options).what_ifs) {
      const std::uint64_t measured =
          row.change.empty() ? job.plain_peak_bytes : job.checkpointed_peak_bytes;
      EXPECT_EQ(row.peak_allocated_bytes, measured) << job.name << " " << row.change;
    }
  }
  std::cout << fmt::format("{} of {} jobs are predicted\n", predicted, all.size());
  EXPECT_GE(4 * predicted, 3 * all.size());
}

TEST(CheckpointedModules, WhatTheRecordDoesNotTellIsRefused) {
  const std::string name = jobs().front().name;
  EXPECT_TRUE(is_refused(refusal(options_of(name, "Net.layers.*")),
                         "no such module was called; these were: Net, Net.norm, Net.head, "));
  ReplayOptions both = options_of(name, "Net.blocks.*");
  both.checkpoints.emplace_back("Net.layers.*");
  EXPECT_TRUE(is_refused(refusal(both), "Net.layers.* was not called"));
  both.checkpoints.back() = "Net.blocks.*.*";
  EXPECT_TRUE(is_refused(refusal(both), "checkpoint one of them"));
  ReplayOptions dtype = options_of(name, "Net.blocks.*");
  dtype.dtype = "bf16";
  EXPECT_TRUE(is_refused(refusal(dtype), "but not which of them are floats"));
  ReplayOptions without = options_of(name, "Net.blocks.*");
  without.file = OHM_SOURCE_DIR "/tests/golden/snapshots/finetune.pickle";
  EXPECT_TRUE(is_refused(refusal(without), "ohm record --modules adds"));
}

}  // namespace
}  // namespace ohm::engine
