#include "harness/sweep/command/command_sweep.h"

#include <gmock/gmock.h>

#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/exec/child_command.h"
#include "tests/support/temp_folder.h"

namespace ohm::engine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

CommandOutcome ended_by(const std::string& message) {
  CommandOutcome outcome;
  outcome.failures = 1;
  outcome.calls = 1;
  if (message.empty()) return outcome;
  outcome.status = 1;
  outcome.error = ErrorResult{message, "train.py", 7, {}, {}};
  outcome.is_foreign = true;
  return outcome;
}

/// A command of three requests, whose copies and own runs end with these messages when a request
/// fails; without one it recovers.
class ScriptedMemory final : public FailingMemory {
 public:
  ScriptedMemory(std::vector<std::string> in_copies, std::vector<std::string> alone)
      : in_copies_(std::move(in_copies)), alone_(std::move(alone)) {}

  CountedCommand count() override {
    CountedCommand counted;
    const std::size_t requests =
        ++counts > 2 ? std::min(requests_later, in_copies_.size()) : in_copies_.size();
    for (std::uint64_t hash = 1; hash <= requests; ++hash) {
      counted.calls.points.push_back(hash);
      counted.calls.kinds.push_back(0);
      counted.calls.bytes.push_back(bytes);
      counted.calls.can_be_copied.push_back(1);
      counted.points.emplace_back();
      counted.hashes.push_back(hash);
    }
    return counted;
  }
  void fail(const CountedCommand& /*counted*/, const std::vector<FaultTask>& tasks,
            const OnEnd& on_end) override {
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      if (ran_beside.size() == interrupted_after) throw CommandInterrupted(SIGTERM);
      ran_beside.push_back(tasks[i].call);
      on_end(i, outcome_of(tasks[i].call, in_copies_));
    }
  }
  std::string sharing() const override { return how_shared; }
  Uncopied uncopied() const override { return of_their_own; }
  void fail_alone(const CountedCommand& /*counted*/, const std::vector<FaultTask>& tasks,
                  const OnEnd& on_end) override {
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      ran_alone.push_back(tasks[i].call);
      on_end(i, outcome_of(tasks[i].call, alone_));
    }
  }
  std::string plan_of(const FaultTask& task) const override {
    return "nth(" + std::to_string(task.call + 1) + ")";
  }
  std::string rerun_command(const std::string& plan) const override { return "ohm exec " + plan; }

  std::vector<std::size_t> ran_beside;
  std::vector<std::size_t> ran_alone;
  std::size_t interrupted_after = SIZE_MAX;
  std::size_t bytes = 512;
  std::size_t counts = 0;
  std::size_t requests_later = SIZE_MAX;  ///< of which no more are made after two runs
  std::size_t never_fails = SIZE_MAX;     ///< a request that runs with a fault do not make
  Uncopied of_their_own;
  std::string how_shared = "in a copy of the command";

 private:
  CommandOutcome outcome_of(std::size_t call, const std::vector<std::string>& ends) const {
    if (call >= requests_later || call == never_fails) return {};
    return ended_by(ends[call]);
  }

  std::vector<std::string> in_copies_;
  std::vector<std::string> alone_;
};

class NoObserver final : public SweepObserver {
 public:
  void on_progress(std::size_t /*finished*/, std::size_t /*total*/) override {}
  void on_scenario(const SweptScenario& /*scenario*/) override {}
};

struct Swept {
  SweptVariant variant;
  std::vector<std::string> notes;
};

Swept sweep(ScriptedMemory& memory, const std::string& known = {}) {
  Swept swept;
  CommandSweepOptions options;
  options.words = {"train"};
  options.points.kind = PointChoice::Kind::all;
  options.forms = {FaultForm::transient};
  std::optional<Checkpoint> checkpoint;
  if (!known.empty()) {
    checkpoint.emplace(known, checkpointed_work(options));
    options.checkpoint = &*checkpoint;
  }
  options.on_note = [&](const std::string& note) { swept.notes.push_back(note); };
  NoObserver observer;
  swept.variant = sweep_command(options, memory, observer).result.scenarios.at(0).variants.at(0);
  return swept;
}

TEST(CommandSweep, OneOfTheFailuresThatAreAlikeIsRunAlone) {
  const std::vector<std::string> ends = {"KeyError: 'a' at 0x7f01", "KeyError: 'a' at 0x7f2c", ""};
  ScriptedMemory memory(ends, ends);
  const Swept swept = sweep(memory);
  EXPECT_THAT(memory.ran_alone, ElementsAre(0));
  EXPECT_THAT(swept.notes, IsEmpty());
  EXPECT_EQ(swept.variant.failed.size(), 2U);
}

TEST(CommandSweep, WhatHappensInCopiesAloneIsNoVerdict) {
  ScriptedMemory memory({"", "KeyError: 'x'", "FileNotFoundError: last.ckpt"},
                        {"", "KeyError: 'x'", ""});
  const Swept swept = sweep(memory);
  ASSERT_EQ(swept.notes.size(), 1U);
  EXPECT_THAT(swept.notes.front(), HasSubstr("FileNotFoundError: last.ckpt"));
  ASSERT_EQ(swept.variant.failed.size(), 1U);
  EXPECT_THAT(swept.variant.failed.front().what, HasSubstr("KeyError: 'x'"));
  EXPECT_EQ(swept.variant.faults, 3);
}

TEST(CommandSweep, WhatHappensBesideOtherRunsAloneIsNoVerdict) {
  ScriptedMemory memory({"", "FileNotFoundError: last.ckpt"}, {"", ""});
  memory.how_shared = "beside other runs of the command";
  const Swept swept = sweep(memory);
  ASSERT_EQ(swept.notes.size(), 1U);
  EXPECT_THAT(swept.notes.front(),
              HasSubstr("behaves differently beside other runs of the command"));
  EXPECT_TRUE(swept.variant.failed.empty());
}

TEST(CommandSweep, WhatSharesNoFilesIsNotRunAgain) {
  ScriptedMemory memory({"", "KeyError: 'x'"}, {"", ""});
  memory.how_shared.clear();
  EXPECT_EQ(sweep(memory).variant.failed.size(), 1U);
  EXPECT_THAT(memory.ran_alone, IsEmpty());
}

TEST(CommandSweep, SweepsOnceMoreWhatMakesOtherRequestsByThen) {
  ScriptedMemory memory({"", "", ""}, {"", "", ""});
  memory.requests_later = 2;
  const Swept swept = sweep(memory);
  EXPECT_THAT(swept.variant.failed, IsEmpty());
  EXPECT_EQ(swept.variant.faults, 2);
  EXPECT_THAT(memory.ran_beside, ElementsAre(0, 1, 2, 0, 1));
  ASSERT_EQ(swept.notes.size(), 1U);
  EXPECT_THAT(swept.notes.front(),
              HasSubstr("has changed since it was counted (one makes 3 requests"));
}

TEST(CommandSweep, ARequestThatOnlyARunWithAFaultDoesNotMakeStaysNotReached) {
  ScriptedMemory memory({"", "", ""}, {"", "", ""});
  memory.never_fails = 1;
  const Swept swept = sweep(memory);
  EXPECT_EQ(swept.variant.failed.size(), 1U);
  EXPECT_THAT(memory.ran_beside, ElementsAre(0, 1, 2));
  EXPECT_THAT(swept.notes, IsEmpty());
}

TEST(CommandSweep, GoesOnWithWhatACheckpointKnows) {
  const test::TempFolder folder;
  const std::string known = folder.file("known");
  const std::vector<std::string> ends = {"KeyError: 'a'", "", "KeyError: 'c'", ""};
  ScriptedMemory interrupted(ends, ends);
  interrupted.interrupted_after = 2;
  EXPECT_EQ(sweep(interrupted, known).variant.untested, 2);
  ScriptedMemory resumed(ends, ends);
  EXPECT_EQ(sweep(resumed, known).variant.failed.size(), 2U);
  EXPECT_THAT(resumed.ran_beside, ElementsAre(2, 3));
  EXPECT_THAT(resumed.ran_alone, ElementsAre(0, 2));
  ScriptedMemory again(ends, ends);
  EXPECT_EQ(sweep(again, known).variant.failed.size(), 2U);
  EXPECT_THAT(again.ran_beside, IsEmpty());
  EXPECT_THAT(again.ran_alone, IsEmpty());
}

TEST(CommandSweep, WhatIsKnownOfOtherRequestsIsOfNoUse) {
  const test::TempFolder folder;
  const std::string known = folder.file("known");
  ScriptedMemory before({"", ""}, {"", ""});
  sweep(before, known);
  ScriptedMemory larger({"", ""}, {"", ""});
  larger.bytes = 1024;
  sweep(larger, known);
  EXPECT_THAT(larger.ran_beside, ElementsAre(0, 1));
}

TEST(CommandSweep, SaysHowManyFaultsHadNoCopy) {
  ScriptedMemory memory({"", "", ""}, {"", "", ""});
  memory.of_their_own = {2, "the process has several threads there"};
  EXPECT_THAT(sweep(memory).notes,
              ElementsAre("2 of 3 faults needed their own run instead of a copy: the process has "
                          "several threads there"));
}

TEST(CommandSweep, GoodEndsOfCopiesThatShareFilesAreJudgedAgain) {
  ScriptedMemory memory({"", "FileNotFoundError: last.ckpt", ""}, {"", "", "KeyError: 'x'"});
  const Swept swept = sweep(memory);
  ASSERT_EQ(swept.variant.failed.size(), 1U);
  EXPECT_EQ(swept.variant.failed.front().call, 3);
}

}  // namespace
}  // namespace ohm::engine
