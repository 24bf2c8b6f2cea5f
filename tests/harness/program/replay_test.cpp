// ohm replay: recorded histories and traces through the real program.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "tests/harness/program/program_test.h"
#include "tests/support/golden.h"

namespace ohm {
namespace {

using test::contains;
using test::ProgramResult;
using test::read_file;
using test::recording_path;
using Json = nlohmann::json;

std::string snapshot(const std::string& name) {
  return recording_path("snapshots/" + name + ".pickle");
}
std::string trace(const std::string& name) {
  return recording_path("allocator/" + name + ".trace");
}

using Replay = test::ProgramTest;

TEST_F(Replay, SaysThatEarlierEventsWereNotKept) {
  folder_.write("cut.py",
                "import pickle, sys\n"
                "record = pickle.load(open(sys.argv[1], 'rb'))\n"
                "note = {'stage': 'START', 'name': 'ohm record dropped events', 'device': 0,\n"
                "        'time_us': 0}\n"
                "record.setdefault('external_annotations', []).append(note)\n"
                "pickle.dump(record, open('cut.pickle', 'wb'), protocol=4)\n");
  const std::string cut = "cd " + folder_.path().string() + " && python3 cut.py ";
  ASSERT_EQ(0, std::system((cut + snapshot("linear_no_grad")).c_str()));
  const ProgramResult ran = ohm({"replay", "cut.pickle"});
  EXPECT_TRUE(contains(ran.out, " events; earlier ones were not kept, ohm record --max-entries"))
      << ran.out << ran.err;
}

TEST_F(Replay, PrintsEveryLineThatPyTorchsAllocatorWasRecordedWith) {
  std::size_t traces = 0;
  for (const auto& entry : std::filesystem::directory_iterator(recording_path("allocator"))) {
    if (entry.path().extension() != ".trace") continue;
    ++traces;
    const std::string base = entry.path().parent_path() / entry.path().stem();
    SCOPED_TRACE(base);
    const auto replay = [&](std::vector<std::string> shown) {
      shown.insert(shown.begin(), {"replay", entry.path().string(), "--rules", "pytorch-2.6"});
      return ohm(shown);
    };
    const ProgramResult expected = replay({"--format", "golden"});
    EXPECT_EQ(expected.code, 0) << expected.err;
    EXPECT_EQ(expected.out, read_file(base + ".expected"));
    EXPECT_EQ(replay({"--events"}).out, read_file(base + ".events"));
    if (std::filesystem::exists(base + ".oom")) {
      EXPECT_EQ(replay({"--ooms"}).out, read_file(base + ".oom"));
    }
  }
  EXPECT_EQ(traces, 51U);
}

TEST_F(Replay, VerifiesSnapshotsOfRealGpus) {
  const std::vector<std::pair<std::string, std::string>> recordings = {
      {"finetune", "3,505 allocations, 3,505 at the recorded address, 152 segments, peaks equal"},
      {"linear_no_grad", "12 allocations, 12 at the recorded address, 7 segments, peaks equal"},
      {"lm_forward_ctx128",
       "2,058 allocations, 2,058 at the recorded address, 289 segments, peaks equal"},
      {"lm_forward_fp32", "681 allocations, 681 at the recorded address, 0 segments, peaks equal"},
      {"lm_inference_ctx128",
       "1,280 allocations, 1,280 at the recorded address, 0 segments, peaks equal"}};
  for (const auto& [name, figures] : recordings) {
    const ProgramResult ran = ohm({"replay", snapshot(name), "--verify"});
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_TRUE(contains(ran.out, figures)) << ran.out;
  }
}

TEST_F(Replay, FailsAndExplainsWhereARecordDiffers) {
  // The second 2,000,000,000 of the file is the size of an allocation.
  const std::string size("J\x00\x94\x35\x77", 5);
  const std::string bytes = read_file(snapshot("linear_no_grad"));
  const std::size_t in_trace = bytes.rfind(size);
  std::string changed = bytes;
  changed.replace(in_trace, size.size(), std::string("J\x00\x96\x35\x77", 5));
  const std::string file = folder_.write("changed.pickle", changed);
  const ProgramResult verified = ohm({"replay", file, "--verify"});
  EXPECT_EQ(verified.code, 1) << verified.err;
  EXPECT_TRUE(contains(verified.out, "device_traces[0][1]")) << verified.out;
  const ProgramResult shown = ohm({"replay", file});
  EXPECT_EQ(shown.code, 0);
  EXPECT_EQ(shown.out, verified.out);
}

TEST_F(Replay, FailsWhereSegmentsDoNotAddUp) {
  const std::string size("J\x00\x94\x35\x77", 5);
  std::string bytes = read_file(snapshot("linear_no_grad"));
  bytes.replace(bytes.find(size), size.size(), std::string("J\x00\x96\x35\x77", 5));
  const ProgramResult ran = ohm({"replay", folder_.write("changed.pickle", bytes), "--verify"});
  EXPECT_EQ(ran.code, 1) << ran.err;
  EXPECT_TRUE(contains(ran.out, "its requested_size is 2000000512, but its blocks add up to"))
      << ran.out;
}

TEST_F(Replay, WhatFitsIsBest) {
  const ProgramResult ran = ohm({"replay", snapshot("finetune"), "--capacity", "5.6GiB",
                                 "--alloc-conf", "", "--alloc-conf", "max_split_size_mb:64",
                                 "--alloc-conf", "expandable_segments:True", "--json"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  const Json rows = Json::parse(ran.out)["what_ifs"];
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0]["settings"], "expandable_segments:True");
  EXPECT_EQ(rows[0]["fits"], true);
  EXPECT_EQ(rows[0]["retries"], 0);
  EXPECT_EQ(rows[0]["peak_reserved_bytes"], 5955911680);
  EXPECT_EQ(rows[1]["fits"], false);
  EXPECT_EQ(rows[2]["fits"], false);
  EXPECT_GE(rows[1]["failure"]["request"], rows[2]["failure"]["request"]);
}

TEST_F(Replay, NothingThatFitsIsAFailure) {
  const ProgramResult ran = ohm({"replay", snapshot("finetune"), "--capacity", "4GiB"});
  EXPECT_EQ(ran.code, 1) << ran.err;
  EXPECT_TRUE(contains(ran.out, "default settings of 4.00 GiB, cuda:0: event ")) << ran.out;
  EXPECT_TRUE(contains(ran.out, "CUDA out of memory. Tried to allocate ")) << ran.out;
}

TEST_F(Replay, FindsTheSmallestCapacity) {
  const ProgramResult ran = ohm({"replay", snapshot("finetune"), "--min-capacity", "--json"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  const Json row = Json::parse(ran.out)["min_capacities"][0];
  EXPECT_EQ(row["without_retry_bytes"], 6471811072);
  EXPECT_EQ(row["with_retries_bytes"], 6291456000);
  EXPECT_EQ(row["is_certified"], true);
  const auto fits = [&](const std::string& bytes) {
    return ohm({"replay", snapshot("finetune"), "--capacity", bytes}).code;
  };
  EXPECT_EQ(fits("6291456000"), 0);
  EXPECT_EQ(fits("6291455999"), 1);
}

TEST_F(Replay, ReportsToFilesAndKeepsTheTable) {
  const ProgramResult ran =
      ohm({"replay", trace("capacity_exact"), "--report", "json=" + file("out.json")});
  EXPECT_EQ(ran.code, 0) << ran.err;
  const Json json = Json::parse(read_file(file("out.json")));
  EXPECT_EQ(json["schema"], "ohm.replay/1");
  EXPECT_EQ(json["exit_reason"], "passed");
  EXPECT_TRUE(contains(ran.out, "out of memory")) << ran.out;
}

struct BadCall {
  std::vector<std::string> arguments;  ///< $name is a golden snapshot
  int code;
  std::string says;
};

void PrintTo(const BadCall& bad, std::ostream* out) { *out << bad.says; }

class BadReplay : public Replay, public testing::WithParamInterface<BadCall> {};

TEST_P(BadReplay, IsAClearErrorWithItsExitCode) {
  folder_.write("empty.pickle", "");
  folder_.write("text.pickle", "hello\n");
  folder_.write("bad.trace", "# capacity 1048576\na 1 many\n");
  folder_.write("twice.trace", "# capacity 67108864\na 1 10\na 1 10\n");
  folder_.write("zip", "PK\x03\x04 and so on");
  std::vector<std::string> arguments = {"replay"};
  for (const std::string& word : GetParam().arguments) {
    arguments.push_back(word.starts_with('$') ? snapshot(word.substr(1)) : word);
  }
  const ProgramResult ran = ohm(arguments);
  EXPECT_EQ(ran.code, GetParam().code) << ran.out << ran.err;
  EXPECT_TRUE(contains(ran.err, GetParam().says)) << ran.err;
  EXPECT_EQ(ran.out, "");
}

INSTANTIATE_TEST_SUITE_P(
    All, BadReplay,
    testing::Values(
        BadCall{{}, 2, "name the file"}, BadCall{{"none.pickle"}, 3, "none.pickle: No such file"},
        BadCall{{"none.pickle", "--limit", "num_ooms == 0"}, 3, "none.pickle: No such file"},
        BadCall{{"."}, 3, ".: is a directory"}, BadCall{{"empty.pickle"}, 3, "empty.pickle"},
        BadCall{{"text.pickle"}, 3, "text.pickle: byte 0"}, BadCall{{"zip"}, 3, "zip: byte 0"},
        BadCall{{"bad.trace"}, 3, "bad.trace: line 2: expected a number of bytes, found \"many\""},
        BadCall{{"twice.trace"}, 3, "twice.trace: line 3: id 1 is in use"},
        BadCall{{"bad.trace", "--verify"}, 2, "--verify compares a snapshot"},
        BadCall{{"$finetune", "--capacity", "much"}, 2, "--capacity: not a number of bytes"},
        BadCall{{"$finetune", "--capacity", "0"}, 2, "--capacity must be more than 0"},
        BadCall{{"$finetune", "--alloc-conf", "max_split:1"},
                2,
                "Unrecognized key 'max_split' in Accelerator allocator config."},
        BadCall{{"$finetune", "--rules", "pytorch-2.7"}, 2, "did you mean"},
        BadCall{{"$finetune", "--memory-fraction", "2"}, 2, "--memory-fraction"},
        BadCall{{"$finetune", "--format", "golden"}, 2, "for .trace files"},
        BadCall{{"$finetune", "--format", "csv"}, 2, "--format must be golden"},
        BadCall{{"$finetune", "--report", "junit=x"},
                2,
                "unknown report format \"junit\"; known: json"},
        BadCall{{"$finetune", "--report", "json=no/such/folder/x"}, 2, "no/such/folder"},
        BadCall{{"$finetune", "--min-capcity"}, 2, "--min-capacity"}));

}  // namespace
}  // namespace ohm
