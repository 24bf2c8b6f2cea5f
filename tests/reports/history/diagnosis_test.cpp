// What records show of pitfalls: small programs, each with one of them, and one without any.
#include "reports/history/diagnosis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "reports/history/history_builder.h"
#include "tests/reports/history/torch_files.h"

namespace ohm::reports {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t kMiB = 1'048'576;

/// Writes down what a program does with one GPU, an event a call.
class Recorder {
 public:
  std::uint64_t alloc(SiteId site, std::uint64_t bytes, Category category = Category::activation) {
    const std::uint64_t address = next_;
    next_ += bytes;
    add(EventAction::alloc, address, bytes, site, category);
    return address;
  }
  void free(std::uint64_t address) {
    add(EventAction::free_requested, address, 0, 0, Category::other);
    add(EventAction::free_completed, address, 0, 0, Category::other);
  }
  void segment(std::uint64_t address, std::uint64_t bytes) {
    add(EventAction::segment_alloc, address, bytes, 0, Category::other);
  }
  void place_next_at(std::uint64_t address) { next_ = address; }
  void step() { steps_.push_back(static_cast<std::uint32_t>(events_.size() - 1)); }
  void pass_behind_steps() { passes_.push_back(static_cast<std::uint32_t>(events_.size() - 1)); }
  void oom(std::int64_t bytes) {
    oom_bytes_ = bytes;
    oom_ = static_cast<std::uint32_t>(events_.size());
    add(EventAction::oom, 0, 0, 0, Category::other);
  }

  std::vector<FindingResult> findings() const {
    HistoryBuilder builder(1, static_cast<std::uint32_t>(events_.size()));
    for (std::size_t i = 0; i < events_.size(); ++i) {
      builder.add(events_[i], static_cast<std::uint32_t>(i));
    }
    DeviceResult device;
    device.device = "cuda:0";
    device.peak_allocated_bytes = builder.totals(0).peak_allocated_bytes;
    MemoryHistory history = builder.finish();
    history.steps = steps_;
    history.oom_event = oom_;
    for (int line = 0; line < 40; ++line) {
      history.sites.push_back({"train.py", line, "op" + std::to_string(line), "", 0});
    }
    device.num_ooms = oom_ ? 1 : 0;
    return diagnose(history, {device}, oom_bytes_, passes_);
  }

 private:
  void add(EventAction action, std::uint64_t address, std::uint64_t bytes, SiteId site,
           Category category) {
    MemoryEvent event;
    event.device = 0;
    event.action = action;
    event.address = address;
    event.bytes = bytes;
    event.block_units = static_cast<std::uint32_t>(bytes / MemoryEvent::kUnitBytes);
    event.site = site;
    event.category = category;
    events_.push_back(event);
  }

  std::vector<MemoryEvent> events_;
  std::vector<std::uint32_t> steps_;
  std::vector<std::uint32_t> passes_;
  std::optional<std::uint32_t> oom_;
  std::int64_t oom_bytes_ = 0;
  std::uint64_t next_ = kBase;
};

TEST(Diagnosis, ALoopThatKeepsNothingHasNoFinding) {
  Recorder program;
  program.alloc(1, 10 * kMiB, Category::parameter);
  for (int step = 0; step < 8; ++step) {
    const auto a = program.alloc(2, 4 * kMiB);
    const auto b = program.alloc(3, 4 * kMiB);
    program.free(b);
    program.free(a);
    program.step();
  }
  EXPECT_TRUE(program.findings().empty());
}

TEST(Diagnosis, AGraphThatIsKeptGrowsByItsBytesEachStep) {
  Recorder program;
  for (int step = 0; step < 8; ++step) {
    program.alloc(2, 2 * kMiB);
    program.alloc(3, 1 * kMiB);
    program.alloc(5, 512);
    program.free(program.alloc(4, 2 * kMiB));
    program.step();
  }
  const std::vector<FindingResult> findings = program.findings();
  ASSERT_EQ(1U, findings.size());
  EXPECT_EQ("growth per step", findings[0].pitfall);
  EXPECT_EQ("leaked_loss_graph", findings[0].scenario);
  EXPECT_THAT(findings[0].what, HasSubstr("grows by 3.00 MiB in each of 6 steps"));
  ASSERT_EQ(3U, findings[0].evidence.size());
  EXPECT_EQ(2, findings[0].evidence[0].line);
  EXPECT_EQ(5, findings[0].evidence[0].count);  // of the steps after the second, without the last
  EXPECT_EQ(5 * 2 * static_cast<std::int64_t>(kMiB), findings[0].evidence[0].bytes);
}

TEST(Diagnosis, GrowthOfStepsThatDifferIsTheLeastAndTheMost) {
  Recorder program;
  for (int step = 0; step < 8; ++step) {
    program.alloc(2, kMiB);
    if (step == 2 || step == 3) program.alloc(3, 5 * kMiB);
    program.step();
  }
  const std::vector<FindingResult> findings = program.findings();
  ASSERT_EQ(1U, findings.size());
  EXPECT_THAT(findings[0].what, HasSubstr("grows by 1.00 MiB to 6.00 MiB in each of 6 steps, from "
                                          "2.00 MiB to 18.00 MiB"));
}

/// 40 steps, of which these leave a tensor behind.
std::vector<FindingResult> findings_where(bool (*leaves)(int step)) {
  Recorder program;
  for (int step = 0; step < 40; ++step) {
    program.free(program.alloc(2, 4 * kMiB));
    if (leaves(step)) program.alloc(3, kMiB);
    program.step();
  }
  return program.findings();
}

TEST(Diagnosis, GrowthInEveryFourthStepIsFound) {
  const std::vector<FindingResult> findings = findings_where([](int i) { return i % 4 == 3; });
  ASSERT_EQ(1U, findings.size());
  EXPECT_EQ("growth per step", findings[0].pitfall);
  EXPECT_THAT(findings[0].what, HasSubstr("grows by 1.00 MiB in 9 of 37 steps"));
}

TEST(Diagnosis, WhatFillsUpAtFirstOrComesOnceDoesNotGrow) {
  EXPECT_TRUE(findings_where([](int i) { return i % 4 == 3 && i < 25; }).empty());
  EXPECT_TRUE(findings_where([](int i) { return i % 30 == 5; }).empty());
}

/// A layer more in each of 8 steps, of which so many are trained.
std::vector<FindingResult> findings_of_layers(int trained) {
  Recorder program;
  for (int step = 0; step < 8; ++step) {
    program.alloc(2, kMiB, Category::parameter);
    program.free(program.alloc(4, 8 * kMiB));
    std::vector<std::uint64_t> gradients;
    for (int i = 0; i < std::min(step + 1, trained); ++i) {
      gradients.push_back(program.alloc(3, kMiB, Category::gradient));
    }
    for (const std::uint64_t gradient : gradients) program.free(gradient);
    program.step();
  }
  return program.findings();
}

TEST(Diagnosis, AModelThatGetsLargerIsNoLeak) {
  EXPECT_TRUE(findings_of_layers(8).empty());
  ASSERT_EQ(1U, findings_of_layers(1).size()) << "those of earlier trials are kept";
  EXPECT_EQ("growth per step", findings_of_layers(1)[0].pitfall);
}

/// Blocks of a line that are moved to the GPU beside 8 parameters of 1 to 8 MiB.
std::vector<FindingResult> findings_beside_parameters(int blocks, std::uint64_t more_bytes) {
  Recorder program;
  for (int i = 1; i <= 8; ++i)
    program.alloc(1, static_cast<std::uint64_t>(i) * kMiB, Category::parameter);
  for (int i = 1; i <= blocks; ++i) {
    program.alloc(2, static_cast<std::uint64_t>(i) * kMiB + more_bytes, Category::input);
  }
  for (int step = 0; step < 4; ++step) {
    program.free(program.alloc(3, kMiB));
    program.step();
  }
  return program.findings();
}

TEST(Diagnosis, WeightsThatAreMovedBesideTheModelsOwnAreTheSameDataTwice) {
  const std::vector<FindingResult> findings = findings_beside_parameters(8, 0);
  ASSERT_EQ(1U, findings.size());
  EXPECT_EQ("the same data twice", findings[0].pitfall);
  EXPECT_EQ(2, findings[0].evidence[0].line);
  EXPECT_TRUE(findings_beside_parameters(6, 0).empty()) << "a part of them: data of the same sizes";
  EXPECT_TRUE(findings_beside_parameters(8, 512).empty()) << "data of other sizes";
}

TEST(Diagnosis, BatchesOfTheSizesOfParametersAreNotTheSameDataTwice) {
  for (const bool computes_first : {false, true}) {
    Recorder program;
    for (int i = 0; i < 4; ++i) program.alloc(1, kMiB, Category::parameter);
    if (computes_first) program.alloc(3, kMiB, Category::activation);
    for (int i = 0; i < 4; ++i) program.alloc(2, kMiB, Category::input);
    for (int step = 0; step < 4; ++step) {
      program.free(program.alloc(3, kMiB, Category::activation));
      program.step();
    }
    EXPECT_EQ(computes_first ? 0U : 1U, program.findings().size());
  }
}

TEST(Diagnosis, OneTensorAStepIsARetainedOutput) {
  Recorder program;
  for (int step = 0; step < 8; ++step) {
    program.free(program.alloc(4, 8 * kMiB));
    program.alloc(5, kMiB);
    program.step();
  }
  const std::vector<FindingResult> findings = program.findings();
  ASSERT_EQ(1U, findings.size());
  EXPECT_EQ("retained_outputs", findings[0].scenario);
  EXPECT_EQ(5, findings[0].evidence.at(0).line);
}

TEST(Diagnosis, ASequenceThatGetsLongerIsNoLeak) {
  Recorder program;
  std::uint64_t old = program.alloc(6, kMiB);
  for (std::uint64_t step = 2; step < 12; ++step) {
    const std::uint64_t larger = program.alloc(6, step * kMiB);
    program.free(old);
    old = larger;
    program.step();
  }
  EXPECT_TRUE(program.findings().empty());
}

TEST(Diagnosis, WhatGoesAfterSomeStepsDoesNotGrow) {
  Recorder program;
  std::vector<std::uint64_t> parts;
  for (int step = 0; step < 16; ++step) {
    parts.push_back(program.alloc(7, kMiB));
    if (parts.size() == 5) {
      for (const std::uint64_t address : parts) program.free(address);
      parts.clear();
    }
    program.step();
  }
  EXPECT_TRUE(program.findings().empty());
}

/// The last batch of each step is there at its end, larger or smaller than the one before.
TEST(Diagnosis, GrowthIsFoundBesideBatchesThatDiffer) {
  constexpr std::uint64_t kSizes[] = {9, 2, 14, 3, 8, 1, 12, 2, 9, 3};
  for (const bool keeps : {true, false}) {
    Recorder program;
    std::uint64_t batch = 0;
    for (const std::uint64_t size : kSizes) {
      if (batch != 0) program.free(batch);
      batch = program.alloc(2, size * 4 * kMiB);
      const std::uint64_t kept = program.alloc(3, size * kMiB);
      if (!keeps) program.free(kept);
      program.step();
    }
    const std::vector<FindingResult> findings = program.findings();
    ASSERT_EQ(keeps ? 1U : 0U, findings.size());
    if (!keeps) continue;
    EXPECT_EQ("growth per step", findings[0].pitfall);
    EXPECT_THAT(findings[0].what, HasSubstr("grows by 1.00 MiB to 14.00 MiB in each of 6 steps"));
    EXPECT_EQ(3, findings[0].evidence.at(0).line);
  }
}

TEST(Diagnosis, SlowGrowthIsFoundInALongRun) {
  for (const int steps : {10, 100}) {
    Recorder program;
    program.alloc(1, 300 * kMiB, Category::parameter);
    for (int step = 0; step < steps; ++step) {
      program.free(program.alloc(2, 8 * kMiB));
      program.alloc(3, kMiB);
      program.step();
    }
    EXPECT_EQ(steps == 10 ? 0U : 1U, program.findings().size()) << steps << " steps";
  }
}

/// Passes through layers look like steps that keep their results, until the backward comes.
TEST(Diagnosis, WhatOneBackwardBehindTheStepsLetsGoIsNoLeak) {
  for (const bool is_trained : {true, false}) {
    Recorder program;
    std::vector<std::uint64_t> saved;
    for (int step = 0; step < 8; ++step) {
      for (const SiteId site : {2U, 3U, 5U}) saved.push_back(program.alloc(site, kMiB));
      program.step();
    }
    for (const std::uint64_t address : saved) {
      if (is_trained) program.alloc(6, 512, Category::gradient);
      program.free(address);
    }
    EXPECT_EQ(is_trained ? 0U : 1U, program.findings().size());
  }
}

/// Three kinds of results that are kept are a part of what the steps compute.
TEST(Diagnosis, WhatIsASmallPartOfAStepIsNoGraph) {
  Recorder program;
  for (int step = 0; step < 8; ++step) {
    for (const SiteId site : {2U, 3U, 5U}) program.alloc(site, kMiB);
    program.free(program.alloc(4, 16 * kMiB));
    program.step();
  }
  const std::vector<FindingResult> findings = program.findings();
  ASSERT_EQ(1U, findings.size());
  EXPECT_EQ("retained_outputs", findings[0].scenario);
  EXPECT_THAT(findings[0].what, HasSubstr("what 3 lines make each time is still there at the end, "
                                          "as something keeps it"));
}

TEST(Diagnosis, ALoopBehindTheStepsThatRanOutOfMemoryGrows) {
  Recorder program;
  for (int step = 0; step < 3; ++step) {
    program.free(program.alloc(2, 8 * kMiB));
    program.step();
  }
  for (int pass = 0; pass < 6; ++pass) {
    program.free(program.alloc(3, 8 * kMiB));
    program.alloc(4, 2 * kMiB);
    program.pass_behind_steps();
  }
  program.oom(8 * static_cast<std::int64_t>(kMiB));
  const std::vector<FindingResult> findings = program.findings();
  ASSERT_EQ(1U, findings.size());
  EXPECT_EQ("growth per step", findings[0].pitfall);
  EXPECT_THAT(findings[0].what,
              HasSubstr("grows by 2.00 MiB in each of 4 passes of a loop behind the last step"));
  EXPECT_EQ(4, findings[0].evidence.at(0).line);
}

TEST(Diagnosis, TwoGenerationsAtThePeakAreAGraphKeptAcrossSteps) {
  Recorder program;
  std::vector<std::uint64_t> old;
  for (int step = 0; step < 6; ++step) {
    const std::vector<std::uint64_t> now = {program.alloc(7, 4 * kMiB), program.alloc(8, 2 * kMiB),
                                            program.alloc(9, kMiB)};
    for (const std::uint64_t address : old) program.free(address);
    old = now;
    program.step();
  }
  const std::vector<FindingResult> findings = program.findings();
  ASSERT_EQ(1U, findings.size());
  EXPECT_EQ("a graph kept alive across steps", findings[0].pitfall);
  EXPECT_EQ("unreleased_variables", findings[0].scenario);
  EXPECT_THAT(findings[0].what, HasSubstr("7.00 MiB of earlier steps"));
}

/// A library keeps the workspace that the first of a line's ops has made.
TEST(Diagnosis, AWorkspaceIsNoPartOfAGraphThatTheSameLineMakes) {
  Recorder program;
  std::vector<std::uint64_t> old;
  for (int step = 0; step < 6; ++step) {
    const std::vector<std::uint64_t> now = {program.alloc(7, 4 * kMiB), program.alloc(8, 2 * kMiB),
                                            program.alloc(9, kMiB)};
    if (step == 0) program.alloc(7, 8 * kMiB, Category::workspace);
    for (const std::uint64_t address : old) program.free(address);
    old = now;
    program.step();
  }
  const std::vector<FindingResult> findings = program.findings();
  ASSERT_EQ(1U, findings.size());
  EXPECT_THAT(findings[0].what, HasSubstr("7.00 MiB of earlier steps"));
}

TEST(Diagnosis, AResultThatIsHeldUntilTheNextOneIsNoGraph) {
  Recorder program;
  std::uint64_t old = 0;
  for (int step = 0; step < 8; ++step) {
    const std::uint64_t saved = program.alloc(7, 4 * kMiB);
    const std::uint64_t result = program.alloc(8, 4 * kMiB);
    if (old != 0) program.free(old);
    program.free(saved);
    old = result;
    program.step();
  }
  EXPECT_TRUE(program.findings().empty());
}

TEST(Diagnosis, StateThatComesInTheFirstStepAndStaysIsLate) {
  Recorder program;
  program.alloc(1, 8 * kMiB, Category::parameter);
  for (int step = 0; step < 6; ++step) {
    program.free(program.alloc(2, 4 * kMiB));
    if (step == 0) program.alloc(9, 16 * kMiB, Category::optimizer_state);
    program.step();
  }
  const std::vector<FindingResult> findings = program.findings();
  ASSERT_EQ(1U, findings.size());
  EXPECT_EQ("optimizer state appearing late", findings[0].pitfall);
  EXPECT_THAT(findings[0].what,
              HasSubstr("16.00 MiB of optimizer state come at event 4 of 19, in step 1"));
}

TEST(Diagnosis, StateThatComesAfterSeveralStepsIsLateToo) {
  Recorder program;
  program.alloc(1, 8 * kMiB, Category::parameter);
  for (int step = 0; step < 8; ++step) {
    program.free(program.alloc(2, 4 * kMiB));
    if (step == 3) program.alloc(9, 16 * kMiB, Category::optimizer_state);
    program.step();
  }
  const std::vector<FindingResult> findings = program.findings();
  ASSERT_EQ(1U, findings.size());
  EXPECT_EQ("optimizer state appearing late", findings[0].pitfall);
  EXPECT_THAT(findings[0].what, HasSubstr("in step 4, and stay: what was reached before"));
}

TEST(Diagnosis, StateThatIsSmallBesideThePeakIsNotWorthAWord) {
  Recorder program;
  for (int step = 0; step < 6; ++step) {
    program.free(program.alloc(2, 200 * kMiB));
    if (step == 0) program.alloc(9, 16 * kMiB, Category::optimizer_state);
    program.step();
  }
  EXPECT_TRUE(program.findings().empty());
}

TEST(Diagnosis, StateBesideWhichAWholeStepFittedIsNotWhyMemoryRanOut) {
  for (const int steps : {1, 3}) {
    Recorder program;
    for (int step = 0; step < steps; ++step) {
      program.free(program.alloc(2, 4 * kMiB));
      if (step == 0) program.alloc(9, 16 * kMiB, Category::optimizer_state);
      program.step();
    }
    program.oom(static_cast<std::int64_t>(kMiB));
    EXPECT_EQ(steps == 1 ? 1U : 0U, program.findings().size()) << steps << " steps";
  }
}

TEST(Diagnosis, FreePartsOfUsedSegmentsAreStranded) {
  Recorder program;
  for (std::uint64_t i = 0; i < 5; ++i) {
    const std::uint64_t address = kBase + i * 64 * kMiB;
    program.segment(address, 20 * kMiB);
    program.place_next_at(address);
    program.alloc(10, 2 * kMiB);
  }
  program.oom(32 * static_cast<std::int64_t>(kMiB));
  const std::vector<FindingResult> findings = program.findings();
  ASSERT_EQ(1U, findings.size());
  EXPECT_EQ("stranded split segments", findings[0].pitfall);
  EXPECT_EQ("fragmentation", findings[0].scenario);
  EXPECT_THAT(findings[0].what, HasSubstr("90.00 MiB of 100.00 MiB reserved free, in 5 segments"));
  EXPECT_THAT(findings[0].what, HasSubstr("at most 18.00 MiB in one"));
  EXPECT_EQ(10, findings[0].evidence.at(0).line);
}

DeviceMemoryHistory holding(std::uint64_t extra_bytes) {
  DeviceMemoryHistory device;
  for (std::uint32_t i = 0; i < 5; ++i) device.blocks.push_back({0, 1, i * kMiB, 2 * kMiB, i});
  if (extra_bytes > 0) device.blocks.push_back({0, 1, 100 * kMiB, extra_bytes, 7});
  return device;
}

TEST(Diagnosis, OneGpuWithMoreThanTheOthersIsAnImbalance) {
  MemoryHistory history;
  history.events = 1;
  history.devices = {holding(20 * kMiB), holding(0)};
  DeviceResult full;
  full.device = "cuda:0";
  full.peak_allocated_bytes = 30 * static_cast<std::int64_t>(kMiB);
  DeviceResult empty = full;
  empty.device = "cuda:1";
  empty.peak_allocated_bytes = 10 * static_cast<std::int64_t>(kMiB);
  const std::vector<FindingResult> findings = diagnose(history, {full, empty});
  ASSERT_EQ(1U, findings.size());
  EXPECT_EQ("imbalance", findings[0].pitfall);
  EXPECT_EQ("unbalanced_data_parallel", findings[0].scenario);
  EXPECT_THAT(findings[0].what, HasSubstr("3.00 times as much"));
  EXPECT_TRUE(diagnose(history, {full, full}).empty());
}

TEST(Diagnosis, GpusWithDifferentWorkAreNotUnbalanced) {
  MemoryHistory history;
  history.events = 1;
  history.devices = {holding(20 * kMiB), {}};
  history.devices[1].blocks = {{0, 1, 0, 10 * kMiB, 9}};
  DeviceResult full;
  full.peak_allocated_bytes = 30 * static_cast<std::int64_t>(kMiB);
  DeviceResult other;
  other.peak_allocated_bytes = 10 * static_cast<std::int64_t>(kMiB);
  EXPECT_TRUE(diagnose(history, {full, other}).empty());
}

}  // namespace
}  // namespace ohm::reports
