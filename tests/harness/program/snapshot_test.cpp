// Memory snapshots of a run, from the outside.
#include <cstdio>
#include <filesystem>
#include <memory>

#include "allocator_shim/snapshot/snapshot_reader.h"
#include "tests/harness/program/program_test.h"
#include "tests/support/checkout_paths.h"

namespace ohm {
namespace {

using test::contains;
using test::ProgramResult;
using WrittenSnapshot = test::ProgramTest;

/// What a shell prints for this command.
std::string output_of(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen((command + " 2>&1").c_str(), "r"),
                                                   [](FILE* file) { return ::pclose(file); });
  std::string out;
  for (int byte = std::fgetc(pipe.get()); byte != EOF; byte = std::fgetc(pipe.get())) {
    out += static_cast<char>(byte);
  }
  return out;
}

std::size_t count(const Snapshot& snapshot, EventAction action) {
  std::size_t count = 0;
  for (const auto& trace : snapshot.device_traces) {
    for (const TraceEntry& entry : trace) count += entry.action == action ? 1U : 0U;
  }
  return count;
}

TEST_F(WrittenSnapshot, ShowsWhatTheVariantHeldAndDid) {
  const ProgramResult ran = ohm({"run", "good.lua", "--case", "kept", "--snapshot", "kept.pickle"});
  EXPECT_EQ(0, ran.code) << ran.out << ran.err;
  const Snapshot snapshot = read_snapshot_file(file("kept.pickle"));
  ASSERT_EQ(snapshot.device_traces.size(), 1U);
  EXPECT_EQ(count(snapshot, EventAction::segment_alloc), 1U);
  // Five tensors are kept; the result's two are freed.
  EXPECT_EQ(count(snapshot, EventAction::alloc), 7U);
  EXPECT_EQ(count(snapshot, EventAction::free_completed), 2U);
  ASSERT_EQ(snapshot.segments.size(), 1U);
  EXPECT_EQ(snapshot.segments[0].allocated_bytes, 5U * 512U);
  EXPECT_EQ(snapshot.segments[0].requested_bytes, 5U * 512U);

  const SnapshotBlock& first = snapshot.segments[0].blocks.at(0);
  const auto frames = snapshot.tables.stack(first.stack);
  ASSERT_EQ(frames.size(), 1U);
  const StackFrame& frame = snapshot.tables.frame(frames[0]);
  EXPECT_EQ(snapshot.tables.text(frame.filename), "good.lua");
  EXPECT_EQ(frame.line, 5);
}

TEST_F(WrittenSnapshot, LoadsWithPythonsPickleAndHasTheKeysOfPyTorchs) {
  if (!output_of("python3 -c 'print(1)'").starts_with("1")) {
    GTEST_SKIP() << "python3 is not there to load the snapshot";
  }
  folder_.write("several.lua", test::scenario_with_problem(R"lua(
  local x = ohm.randn(1000, 1000, {device = device})
  x:requires_grad_(true)
  local y = ohm.relu(x)
  y:sum():backward()
  local z = ohm.ones(10, {device = 'cuda:1'})
  y = nil
  ohm.cuda.empty_cache()
  ohm.zeros(1000000000, {device = device}))lua"));
  const std::string script = std::string(OHM_GOLDEN_DIR) + "/../comparisons/check_snapshot.py";
  const std::string path = file("several.it.pickle");
  const std::string command = "python3 '" + script + "' '" + path + "' ";
  for (const std::string version : {"2.6", "2.15"}) {
    const ProgramResult ran =
        ohm({"run", "several.lua", "--gpu", "tiny-64m,count=2", "--size-only", "--alloc-conf",
             "expandable_segments:True", "--rules", "pytorch-" + version, "--snapshot", "./"});
    EXPECT_EQ(0, ran.code) << ran.out << ran.err;
    const Snapshot snapshot = read_snapshot_file(path);
    EXPECT_EQ(count(snapshot, EventAction::oom), 1U);
    std::size_t entries = 0;
    for (const auto& trace : snapshot.device_traces) entries += trace.size();
    EXPECT_EQ(output_of(command + version), std::to_string(snapshot.segments.size()) +
                                                " segments, " + std::to_string(entries) +
                                                " entries\n");
  }
}

TEST_F(WrittenSnapshot, IsTheSameOnEveryRun) {
  for (const char* path : {"a.pickle", "b.pickle"}) {
    EXPECT_EQ(0, ohm({"run", "good.lua", "--case", "kept", "--snapshot", path}).code);
  }
  EXPECT_EQ(test::read_file(file("a.pickle")), test::read_file(file("b.pickle")));
}

TEST_F(WrittenSnapshot, GoesToAFileForEachVariant) {
  std::filesystem::create_directory(file("all"));
  const ProgramResult ran = ohm({"run", "good.lua", "--snapshot", "all"});
  EXPECT_EQ(0, ran.code) << ran.err;
  EXPECT_EQ(read_snapshot_file(file("all/good.kept.pickle")).segments[0].allocated_bytes, 2560U);
  EXPECT_EQ(read_snapshot_file(file("all/good.dropped.pickle")).segments[0].allocated_bytes, 0U);
  EXPECT_EQ(0, ohm({"run", "good.lua", "--case", "kept", "--snapshot", "{variant}.p"}).code);
  EXPECT_TRUE(std::filesystem::exists(file("kept.p")));
  EXPECT_FALSE(std::filesystem::exists(file("dropped.p")));
}

TEST_F(WrittenSnapshot, IsRefusedBeforeAnythingRunsWhereItCannotBeWritten) {
  const ProgramResult several = ohm({"run", "good.lua", "--snapshot", "x.pickle"});
  EXPECT_EQ(2, several.code);
  EXPECT_TRUE(contains(several.out,
                       "--snapshot x.pickle is one file, but 2 variants of good.lua "
                       "are selected (kept, dropped)"))
      << several.out;
  const ProgramResult missing =
      ohm({"run", "good.lua", "--case", "kept", "--snapshot", "missing/x.pickle"});
  EXPECT_EQ(2, missing.code);
  EXPECT_TRUE(contains(missing.err, "there is no folder missing: make it first")) << missing.err;
  const ProgramResult itself =
      ohm({"run", "good.lua", "--case", "kept", "--snapshot", "./good.lua"});
  EXPECT_EQ(2, itself.code);
  EXPECT_TRUE(contains(itself.err, "this command reads or writes good.lua already")) << itself.err;
  EXPECT_EQ(test::kGoodScenario, test::read_file(file("good.lua")));
  // Nor that of a file that the run does not read.
  for (const char* other : {"other.lua", "other.baseline"}) {
    folder_.write(other, "mine");
    const ProgramResult over =
        ohm({"run", "good.lua", "--case", "kept", "--report", std::string("json=") + other});
    EXPECT_EQ(2, over.code);
    EXPECT_TRUE(contains(over.err, std::string(other) + " is a scenario or a baseline"))
        << over.err;
    EXPECT_EQ("mine", test::read_file(file(other)));
  }
}

TEST_F(WrittenSnapshot, ThatDoesNotFitOnTheDiskIsAnErrorAfterTheResult) {
  const ProgramResult ran = ohm({"run", "good.lua", "--case", "kept", "--snapshot", "/dev/full"});
  EXPECT_EQ(2, ran.code);
  EXPECT_TRUE(contains(ran.out, "1 passed")) << ran.out;
  EXPECT_EQ(ran.err, "ohm: cannot write /dev/full: No space left on device\n");
}

class ScriptedSnapshot : public test::ProgramTest {
 protected:
  /// The scenario's one variant has this body.
  ProgramResult run_body(const std::string& body) const {
    folder_.write("s.lua", test::scenario_with_check(body));
    return ohm({"run", "s.lua"});
  }
};

TEST_F(ScriptedSnapshot, ShowsTheMomentItWasTaken) {
  run_body(R"lua(
  local x = ohm.ones(128, {device = device})
  ohm.cuda.memory.dump_snapshot('one.pickle')
  local y = ohm.ones(256, {device = device})
  ohm.cuda.memory._dump_snapshot('two.pickle')
  ohm.cuda.memory.dump_snapshot())lua");
  const Snapshot one = read_snapshot_file(file("one.pickle"));
  EXPECT_EQ(one.segments.at(0).allocated_bytes, 512U);
  EXPECT_EQ(count(one, EventAction::alloc), 1U);
  EXPECT_EQ(count(one, EventAction::snapshot), 0U);
  const Snapshot two = read_snapshot_file(file("two.pickle"));
  EXPECT_EQ(two.segments.at(0).allocated_bytes, 512U + 1024U);
  // As in PyTorch, a snapshot shows the ones before it.
  EXPECT_EQ(count(two, EventAction::snapshot), 1U);
  EXPECT_EQ(two.device_traces[0][2].bytes, 512U);
  EXPECT_EQ(count(read_snapshot_file(file("dump_snapshot.pickle")), EventAction::snapshot), 2U);
}

TEST_F(ScriptedSnapshot, ShowsTheHistoryThatWasAskedFor) {
  run_body(R"lua(
  local memory = ohm.cuda.memory
  local x = ohm.ones(128, {device = device})
  memory.record_memory_history()
  local y = ohm.ones(256, {device = device})
  memory.dump_snapshot('later.pickle')
  memory._record_memory_history {max_entries = 2}
  for i = 1, 5 do x = ohm.ones(128 * i, {device = device}) end
  memory.dump_snapshot('newest.pickle')
  memory.record_memory_history(nil)
  y = nil
  memory.dump_snapshot('none.pickle')
  memory.record_memory_history('all')
  x = nil
  memory.dump_snapshot('again.pickle'))lua");
  const Snapshot later = read_snapshot_file(file("later.pickle"));
  ASSERT_EQ(later.device_traces.at(0).size(), 1U);
  EXPECT_EQ(later.device_traces[0][0].bytes, 1024U);
  EXPECT_EQ(later.segments.at(0).allocated_bytes, 512U + 1024U);
  EXPECT_EQ(read_snapshot_file(file("newest.pickle")).device_traces.at(0).size(), 2U);
  EXPECT_EQ(read_snapshot_file(file("none.pickle")).device_traces.at(0).size(), 0U);
  const Snapshot again = read_snapshot_file(file("again.pickle"));
  EXPECT_EQ(count(again, EventAction::free_completed), 1U);
}

struct Refused {
  const char* name;
  const char* body;
  const char* message;
};
void PrintTo(const Refused& refused, std::ostream* out) { *out << refused.name; }

class RefusedSnapshot : public ScriptedSnapshot, public testing::WithParamInterface<Refused> {};

TEST_P(RefusedSnapshot, IsAnErrorOfTheScript) {
  folder_.write("notes.pickle", "mine");
  folder_.write("s.lua", test::scenario_with_problem(GetParam().body));
  const ProgramResult ran = ohm({"run", "s.lua"});
  EXPECT_EQ(3, ran.code);
  std::string out = ran.out;  // as one line: the table wraps
  for (std::size_t i = out.find("\n  "); i != std::string::npos; i = out.find("\n  ")) {
    out.replace(i, out.find_first_not_of(" \n", i) - i, " ");
  }
  EXPECT_TRUE(contains(out, GetParam().message)) << ran.out;
  EXPECT_EQ("mine", test::read_file(file("notes.pickle")));
}

INSTANTIATE_TEST_SUITE_P(
    All, RefusedSnapshot,
    testing::Values(
        Refused{"above", "ohm.cuda.memory.dump_snapshot('../x.pickle')",
                "s.lua:2: [dump_snapshot] a script may not write ../x.pickle: snapshots of scripts "
                "go to the current folder or below it (--snapshot writes anywhere)"},
        Refused{"name", "ohm.cuda.memory.dump_snapshot('x.lua')",
                "[dump_snapshot] a script may not write x.lua: the name of a snapshot ends in "
                ".pickle"},
        Refused{"other_file", "ohm.cuda.memory.dump_snapshot('notes.pickle')",
                "[dump_snapshot] a script may not write notes.pickle: it exists and is not a "
                "memory snapshot"},
        Refused{"no_path", "ohm.cuda.memory.dump_snapshot({})",
                "[dump_snapshot] argument 'path' must be a string, got table"},
        Refused{"enabled", "ohm.cuda.memory.record_memory_history('some')",
                "[record_memory_history] argument 'enabled' must be \"all\", \"state\", a boolean "
                "or nil, got \"some\""},
        Refused{"max_entries", "ohm.cuda.memory.record_memory_history {max_entries = 0}",
                "[record_memory_history] argument 'max_entries' must be at least 1"}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace ohm
