// Snapshots of other people's jobs: limits, baselines, and what they show.
#include <gmock/gmock.h>

#include <filesystem>

#include "tests/harness/program/program_test.h"
#include "tests/support/checkout_paths.h"

namespace ohm {
namespace {

using test::ProgramResult;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kTraining = R"lua(
local nn = ohm.nn
local kept = {}
local function train(device, keep)
  local net = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 64)):to(device)
  local optimizer = ohm.optim.Adam(net:parameters(), {lr = 0.01})
  local x, loss = nil, nil
  for step = 1, 8 do
    x = ohm.ones(256, 64, {device = device})
    loss = net(x):mean()
    if keep then kept[#kept + 1] = net(x):sum() end
    optimizer:zero_grad()
    loss:backward()
    optimizer:step()
    ohm.step()
  end
end
return ohm.scenario {
  name = "training", summary = "s", gpu = {profile = "tiny-64m"},
  limits = {"growth_bytes_per_step == 0"},
  problems = {leaks = function(d) train(d, true) end},
  controls = {clean = function(d) train(d, false) end},
}
)lua";

class SnapshotGate : public test::ProgramTest {
 protected:
  SnapshotGate() {
    folder_.write("training.lua", kTraining);
    for (const char* name : {"leaks", "clean"}) {
      ohm({"run", "training.lua", "--size-only", "--case", name, "--snapshot",
           std::string(name) + ".pickle"});
    }
  }
  static std::string recorded(const char* name) {
    return std::string(OHM_RECORDINGS_DIR) + "/snapshots/" + name;
  }
};

TEST_F(SnapshotGate, StepsOfScenariosAreMarked) {
  EXPECT_EQ(0, ohm({"replay", "clean.pickle", "--limit", "steps == 8", "--limit",
                    "growth_bytes_per_step == 0"})
                   .code);
}

TEST_F(SnapshotGate, ALeakBreaksTheLimit) {
  const ProgramResult ran =
      ohm({"replay", "leaks.pickle", "--limit", "growth_bytes_per_step == 0"});
  EXPECT_EQ(1, ran.code) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("growth_bytes_per_step == 0: measured "));
  EXPECT_THAT(ran.out, HasSubstr("(LeakSlope)"));
  EXPECT_THAT(ran.out, HasSubstr("re-run: ohm replay leaks.pickle --limit"));
}

TEST_F(SnapshotGate, ReportNamesWhatItSeesTheLinesAndTheScenarioThatExplainsIt) {
  const ProgramResult leaks = ohm({"report", "leaks.pickle"});
  EXPECT_EQ(0, leaks.code) << leaks.err;
  EXPECT_THAT(leaks.out, HasSubstr("growth per step on cuda:0"));
  EXPECT_THAT(leaks.out, HasSubstr("training.lua:11"));
  EXPECT_THAT(leaks.out, HasSubstr("explained by scenarios/leaked_loss_graph.lua"));
  const ProgramResult clean = ohm({"report", "clean.pickle"});
  EXPECT_THAT(clean.out, Not(HasSubstr("growth per step")));
  EXPECT_THAT(clean.out, HasSubstr("optimizer state appearing late"));
}

TEST_F(SnapshotGate, PeaksOfRecordedJobsAreLimited) {
  const std::string file = recorded("finetune.pickle");
  EXPECT_EQ(0, ohm({"replay", file, "--limit", "peak_allocated_bytes < 20 GiB"}).code);
  const ProgramResult ran = ohm({"replay", file, "--limit", "peak_allocated_bytes < 1 GiB"});
  EXPECT_EQ(1, ran.code);
  EXPECT_THAT(ran.out, HasSubstr("(LimitExceeded)"));
}

TEST_F(SnapshotGate, WhatASnapshotDoesNotTellIsNoLimit) {
  for (const char* limit :
       {"peak_host_bytes < 1 GiB", "non_finite == 0", "num_alloc_retries == 0",
        "peak_allocated_bytes < 0.5 * problem", "peak_alocated_bytes < 1 GiB"}) {
    const ProgramResult ran = ohm({"replay", "clean.pickle", "--limit", limit});
    EXPECT_EQ(2, ran.code) << limit << ran.out;
    EXPECT_NE("", ran.err);
  }
  // Steps that cannot be found are not growth of 0, and no growth either.
  const ProgramResult ran =
      ohm({"replay", recorded("finetune.pickle"), "--limit", "growth_bytes_per_step == 0"});
  EXPECT_EQ(3, ran.code) << ran.out;
  EXPECT_THAT(ran.out, HasSubstr("not measured"));
}

TEST_F(SnapshotGate, ABaselineIsWrittenOfASnapshotAndHoldsForIt) {
  ASSERT_EQ(0, ohm({"baseline", "update", "clean.pickle"}).code);
  EXPECT_EQ(0, ohm({"baseline", "check", "clean.pickle"}).code);
  EXPECT_EQ(0, ohm({"replay", "clean.pickle", "--baseline", "clean.baseline"}).code);
  const ProgramResult ran = ohm({"replay", "leaks.pickle", "--baseline", "clean.baseline"});
  EXPECT_EQ(1, ran.code);
  EXPECT_THAT(ran.out, HasSubstr("BaselineRegression"));
  EXPECT_THAT(test::on_one_line(ran.out),
              HasSubstr("+2.00 MiB (0 B before, 2.00 MiB now) training.lua:11"));
}

TEST_F(SnapshotGate, AnotherSnapshotIsABaselineToo) {
  EXPECT_EQ(0, ohm({"replay", "clean.pickle", "--baseline", "clean.pickle"}).code);
  EXPECT_EQ(1, ohm({"replay", "leaks.pickle", "--baseline", "clean.pickle"}).code);
  EXPECT_EQ(3, ohm({"replay", "clean.pickle", "--baseline", "gone.baseline"}).code);
}

TEST_F(SnapshotGate, RealDevicesMayHaveATolerance) {
  std::string larger = kTraining;
  larger.replace(larger.find("ones(256"), 8, "ones(260");
  folder_.write("larger.lua", larger);
  ohm({"run", "larger.lua", "--size-only", "--case", "clean", "--snapshot", "larger.pickle"});
  const auto judge = [&](const char* percent) {
    return ohm({"replay", "larger.pickle", "--baseline", "clean.pickle", "--tolerance", percent})
        .code;
  };
  EXPECT_EQ(1, judge("0"));
  EXPECT_EQ(0, judge("10"));
  EXPECT_EQ(2, judge("-1"));
  EXPECT_EQ(2, ohm({"replay", "larger.pickle", "--tolerance", "1"}).code);
}

/// A program whose figures move apart: fewer bytes in more segments, and others between them.
constexpr const char* kShapes = R"lua(
local function make(device, blocks, bytes)
  local kept = {}
  for i = 1, blocks do kept[i] = ohm.ones(bytes // 4, {device = device}) end
  ohm.step()
end
return ohm.scenario {
  name = "shapes", summary = "s", gpu = {profile = "l4-24g", values = false},
  limits = {"num_ooms == 0"},
  problems = {
    few = function(d) make(d, 2, 400 << 20) end,
    many = function(d) make(d, 6, 100 << 20) end,
    more = function(d) make(d, 7, 120 << 20) end,
    less = function(d) make(d, 7, 110 << 20) end,
  },
}
)lua";

class SnapshotGateOfShapes : public SnapshotGate {
 protected:
  SnapshotGateOfShapes() {
    folder_.write("shapes.lua", kShapes);
    ohm({"run", "shapes.lua", "--snapshot", "{variant}.pickle"});
  }
  ProgramResult judged(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "replay");
    ProgramResult ran = ohm(arguments);
    ran.out = test::on_one_line(ran.out);
    return ran;
  }
};

TEST_F(SnapshotGateOfShapes, WhatWasNotAskedForIsShownAndDoesNotFail) {
  const ProgramResult ran = judged({"many.pickle", "--baseline", "few.pickle"});
  EXPECT_EQ(0, ran.code) << ran.out;
  EXPECT_THAT(ran.out, HasSubstr("nothing fails against few.pickle; larger, but not judged: cuda:0 "
                                 "num_device_alloc +4 (+200.0 %); smaller: cuda:0 "
                                 "peak_allocated_bytes −200.00 MiB (−25.0 %)"));
}

TEST_F(SnapshotGateOfShapes, WhatWasAskedForFailsAndComesFirst) {
  const ProgramResult ran =
      judged({"many.pickle", "--baseline", "few.pickle", "--measure", "num_device_alloc"});
  EXPECT_EQ(1, ran.code) << ran.out;
  EXPECT_THAT(ran.out, HasSubstr("against few.pickle: cuda:0 num_device_alloc +4 (+200.0 %); "
                                 "smaller: cuda:0 peak_allocated_bytes −200.00 MiB (−25.0 %)"));
  EXPECT_THAT(ran.out, HasSubstr("--measure num_device_alloc"));
  const ProgramResult back = judged({"few.pickle", "--baseline", "many.pickle"});
  EXPECT_EQ(1, back.code) << back.out;
  EXPECT_THAT(back.out, HasSubstr("against many.pickle: cuda:0 peak_allocated_bytes +200.00 MiB "
                                  "(+33.3 %), cuda:0 peak_reserved_bytes +200.00 MiB (+33.3 %)"));
}

TEST_F(SnapshotGateOfShapes, RecordingsOfOneJobMakeTheTolerance) {
  // 770 and 840 MiB are 70 MiB apart, so that 800 MiB are between them.
  EXPECT_EQ(1, judged({"few.pickle", "--baseline", "less.pickle"}).code);
  EXPECT_EQ(0,
            judged({"few.pickle", "--baseline", "less.pickle", "--baseline", "more.pickle"}).code);
  // 840 MiB are 40 MiB above 800, and 600 and 800 MiB are 200 MiB apart.
  EXPECT_EQ(0,
            judged({"more.pickle", "--baseline", "few.pickle", "--baseline", "many.pickle"}).code);
  // 840 MiB are 40 MiB above 800, and 770 and 800 MiB are 30 MiB apart.
  const ProgramResult ran =
      judged({"more.pickle", "--baseline", "less.pickle", "--baseline", "few.pickle"});
  EXPECT_EQ(1, ran.code) << ran.out;
  EXPECT_THAT(ran.out, HasSubstr("against 2 recordings: cuda:0 peak_allocated_bytes +40.00 MiB "
                                 "(+5.0 %)"));
}

TEST_F(SnapshotGateOfShapes, LimitsAndABaselineGoTogether) {
  EXPECT_EQ(0, judged({"few.pickle", "--baseline", "few.pickle", "--limit", "num_ooms == 0"}).code);
  const ProgramResult ran = judged(
      {"few.pickle", "--baseline", "few.pickle", "--limit", "peak_allocated_bytes < 700 MiB"});
  EXPECT_EQ(1, ran.code);
  EXPECT_THAT(ran.out, Not(HasSubstr("the limits changed")));
}

TEST_F(SnapshotGateOfShapes, MeasuresAreThoseOfBaselines) {
  EXPECT_EQ(2, judged({"few.pickle", "--measure", "num_ooms"}).code);
  const ProgramResult ran =
      judged({"few.pickle", "--baseline", "few.pickle", "--measure", "peak_bytes"});
  EXPECT_EQ(2, ran.code);
  EXPECT_THAT(ran.err, HasSubstr("--measure peak_bytes: is none of steps, growth_bytes_per_step"));
}

TEST_F(SnapshotGate, EveryFormatOfARunCanBeWritten) {
  for (const char* format :
       {"junit", "json", "html", "github", "markdown", "trace", "console", "codequality"}) {
    const ProgramResult ran =
        ohm({"replay", "leaks.pickle", "--limit", "growth_bytes_per_step == 0", "--report",
             std::string(format) + "=out." + format});
    EXPECT_EQ(1, ran.code) << format << ran.err;
    EXPECT_NE("", test::read_file(file(std::string("out.") + format))) << format;
  }
  EXPECT_EQ(2, ohm({"replay", "leaks.pickle", "--limit", "steps == 8", "--verify"}).code);
}

TEST_F(SnapshotGate, DiffComparesSnapshots) {
  const ProgramResult diff = ohm({"diff", "clean.pickle", "leaks.pickle"});
  EXPECT_EQ(0, diff.code) << diff.err;
  EXPECT_THAT(diff.out, HasSubstr("peak_allocated_bytes"));
  EXPECT_THAT(diff.out, HasSubstr("training.lua:11 (new)"));
  EXPECT_EQ(0, ohm({"diff", "clean.pickle", "clean.pickle", "--exit-code"}).code);
}

TEST_F(SnapshotGate, AReportOfASnapshotIsNeverWrittenOverIt) {
  const std::string before = test::read_file(file("clean.pickle"));
  EXPECT_EQ(
      2, ohm({"replay", "clean.pickle", "--limit", "steps == 8", "--report", "json=clean.pickle"})
             .code);
  EXPECT_EQ(before, test::read_file(file("clean.pickle")));
}

}  // namespace
}  // namespace ohm
