// ohm fit of recordings: what is predicted from a few values is what runs at other values do.
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/harness/program/program_test.h"
#include "tests/support/schema_check.h"

namespace ohm {
namespace {

using test::contains;
using test::on_one_line;
using test::ProgramResult;
using Json = nlohmann::json;

/// Sizes that are constant, lines and, where asked for, squares; segments of both kinds, with
/// splits and reuse. With `pieces` there is a block for each of the batch.
constexpr const char* kTraining = R"lua(
local params = ohm.params {
  batch = {default = 4, min = 1, max = 65536}, pieces = {default = 0, min = 0, max = 1},
  layers = {default = 3, min = 1, max = 9}, squared = {default = 0, min = 0, max = 1},
}
local function run(device)
  local weights = {}
  for i = 1, params.layers do weights[i] = ohm.ones(300, 1000, {device = device}) end
  for step = 1, 3 do
    local kept = {}
    for i = 1, params.layers do
      kept[i] = ohm.ones(params.batch, 30011, {device = device})
      local short = ohm.ones(params.batch * 7 + 100, 1009, {device = device})
    end
    if params.squared == 1 then
      kept[#kept + 1] = ohm.ones(params.batch, params.batch, 1000, {device = device})
    end
    if params.pieces == 1 then
      for i = 1, params.batch do kept[#kept + 1] = ohm.ones(200000, {device = device}) end
    end
    kept = nil
    ohm.step()
  end
end
return ohm.scenario {
  name = "training", summary = "Blocks that grow", gpu = {profile = "l4-24g", values = false},
  limits = {"num_ooms == 0"}, problems = {step = run},
}
)lua";

class RecordedFit : public test::ProgramTest {
 protected:
  RecordedFit() { folder_.write("training.lua", kTraining); }

  /// One for each batch; what else is set comes before. Names are the batch's.
  void record(const std::vector<int>& batches, const std::vector<std::string>& set = {},
              const std::string& prefix = "b") const {
    for (const int batch : batches) {
      std::vector<std::string> words = {"run", "training.lua", "--set",
                                        "batch=" + std::to_string(batch)};
      for (const std::string& other : set) words.insert(words.end(), {"--set", other});
      words.insert(words.end(), {"--snapshot", prefix + std::to_string(batch) + ".pickle"});
      const ProgramResult ran = ohm(words);
      ASSERT_TRUE(exists(prefix + std::to_string(batch) + ".pickle")) << ran.out << ran.err;
    }
  }

  bool exists(const std::string& name) const {
    return std::filesystem::exists(folder_.path() / name);
  }

  Json predicted(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "fit");
    arguments.emplace_back("--json");
    const ProgramResult ran = ohm(arguments);
    EXPECT_EQ(0, ran.code) << ran.err;
    return Json::parse(ran.out);
  }

  std::int64_t found_by_running(const std::string& gpu,
                                const std::vector<std::string>& set = {}) const {
    std::vector<std::string> words = {"fit",  "training.lua", "--vary", "batch", "--case",
                                      "step", "--gpu",        gpu,      "--json"};
    for (const std::string& other : set) words.insert(words.end(), {"--set", other});
    const ProgramResult ran = ohm(words);
    EXPECT_EQ(0, ran.code) << ran.err;
    return Json::parse(ran.out)["rows"][0]["best"]["value"];
  }
};

TEST_F(RecordedFit, PredictsWhatRunsFindOnEveryCard) {
  record({8, 16, 40});
  for (const char* gpu : {"tiny-64m", "k80-12g,capacity=1GiB", "l4-24g,capacity=1500MiB"}) {
    const std::int64_t found = found_by_running(gpu);
    const Json two = predicted({"b8.pickle", "b16.pickle", "--vary", "batch=8,16", "--gpu", gpu});
    EXPECT_EQ(two["rows"][0]["best"]["value"], found) << gpu;
    const Json three = predicted(
        {"b8.pickle", "b40.pickle", "b16.pickle", "--vary", "batch=8,40,16", "--gpu", gpu});
    EXPECT_EQ(three["rows"][0]["best"]["value"], found) << gpu;
    EXPECT_LE(three["rows"][0]["bound"]["least"], found);
    EXPECT_GE(three["rows"][0]["bound"]["most"], found);
    EXPECT_EQ(three["basis"]["unchecked"], 0);
    EXPECT_EQ(three["basis"]["irregular"], 0);
    EXPECT_EQ(three["rows"][0]["next"]["kind"], "out_of_memory");
  }
}

TEST_F(RecordedFit, PredictsPeaksToTheByte) {
  record({8, 16});
  record({100}, {}, "peak");
  const ProgramResult ran = ohm({"replay", "peak100.pickle", "--capacity", "21GiB", "--json"});
  ASSERT_EQ(0, ran.code) << ran.err;
  const Json peaks = Json::parse(ran.out)["what_ifs"][0];
  const Json fit =
      predicted({"b8.pickle", "b16.pickle", "--vary", "batch=8,16", "--gpu", "l4-24g", "--limit",
                 "peak_allocated_bytes <= " + peaks["peak_allocated_bytes"].dump()});
  EXPECT_EQ(fit["rows"][0]["best_within_limits"]["value"], 100);
  EXPECT_EQ(fit["rows"][0]["best_within_limits"]["peak_reserved_bytes"],
            peaks["peak_reserved_bytes"]);
  EXPECT_EQ(fit["rows"][0]["next_limit"]["value"], 101);
}

TEST_F(RecordedFit, FollowsSquares) {
  record({8, 16, 32}, {"squared=1"});
  const std::int64_t found = found_by_running("l4-24g", {"squared=1"});
  const Json two =
      predicted({"b8.pickle", "b16.pickle", "--vary", "batch=8,16", "--gpu", "l4-24g"});
  EXPECT_EQ(two["rows"][0]["best"]["value"], found);
  EXPECT_EQ(two["basis"]["curves"], 3);
  const Json three = predicted(
      {"b8.pickle", "b16.pickle", "b32.pickle", "--vary", "batch=8,16,32", "--gpu", "l4-24g"});
  EXPECT_EQ(three["rows"][0]["best"]["value"], found);
}

TEST_F(RecordedFit, SaysWhatItRestsOn) {
  record({8, 16});
  const ProgramResult ran =
      ohm({"fit", "b8.pickle", "b16.pickle", "--vary", "batch=8,16", "--gpu", "l4-24g"});
  EXPECT_EQ(0, ran.code);
  const std::string text = on_one_line(ran.out);
  EXPECT_TRUE(contains(text, "b8.pickle batch = 8: 21 requests, all matched")) << ran.out;
  EXPECT_TRUE(contains(text, "nothing checks those: a third recording would")) << ran.out;
  EXPECT_TRUE(contains(text, "training.lua:12")) << ran.out;
  EXPECT_TRUE(contains(text, "error bound")) << ran.out;
}

TEST_F(RecordedFit, IsForEveryCardWhereNoneIsNamed) {
  record({8, 16});
  const Json all = predicted({"b8.pickle", "b16.pickle", "--vary", "batch=8,16"});
  EXPECT_GT(all["rows"].size(), 10U);
}

TEST_F(RecordedFit, RefusesRecordingsOfDifferentPrograms) {
  record({8, 16});
  record({16}, {"pieces=1"}, "pieces");
  record({16}, {"layers=4"}, "layers");
  for (const std::string other : {"pieces16.pickle", "layers16.pickle"}) {
    const ProgramResult ran = ohm({"fit", "b8.pickle", other, "--vary", "batch=8,16"});
    EXPECT_EQ(3, ran.code);
    EXPECT_TRUE(contains(ran.err, "not recordings of one program")) << ran.err;
    EXPECT_TRUE(contains(ran.err, other)) << ran.err;
    EXPECT_TRUE(contains(ran.err, "training.lua:")) << ran.err;
  }
}

TEST_F(RecordedFit, RefusesARecordingThatRanOutOfMemory) {
  record({8});
  ohm({"run", "training.lua", "--set", "batch=16", "--gpu", "tiny-64m,capacity=8MiB", "--snapshot",
       "oom.pickle"});
  const ProgramResult ran = ohm({"fit", "b8.pickle", "oom.pickle", "--vary", "batch=8,16"});
  EXPECT_EQ(3, ran.code);
  EXPECT_TRUE(contains(ran.err, "oom.pickle: ran out of memory on cuda:0")) << ran.err;
}

TEST_F(RecordedFit, RefusesWhatIsNoQuestion) {
  record({8, 16});
  const auto expect_refused = [&](std::vector<std::string> arguments, int code,
                                  const std::string& part) {
    arguments.insert(arguments.begin(), "fit");
    const ProgramResult ran = ohm(arguments);
    EXPECT_EQ(code, ran.code) << ran.err;
    EXPECT_TRUE(contains(ran.err, part)) << ran.err;
  };
  expect_refused({"b8.pickle", "--vary", "batch=8"}, 2, "one recording cannot show what grows");
  for (const char* vary : {"batch", "batch=8", "batch=8,8", "batch=8,x", "batch=0,8", "=8,16",
                           "batch=8,16,32", "batch=1..8"}) {
    expect_refused({"b8.pickle", "b16.pickle", "--vary", vary}, 2, "is not NAME=VALUE,VALUE");
  }
  expect_refused({"b8.pickle", "b16.pickle"}, 2, "is not NAME=VALUE,VALUE");
  expect_refused({"b8.pickle", "none.pickle", "--vary", "batch=8,16"}, 3, "none.pickle");
  expect_refused({"b8.pickle", "b16.pickle", "--vary", "batch=8,16", "--case", "x"}, 2,
                 "--case: applies to scenarios");
  expect_refused({"b8.pickle", "b16.pickle", "--vary", "batch=8,16", "--limit", "num_ooms == 0"}, 2,
                 "can only predict");
  expect_refused({"training.lua", "--vary", "batch", "--limit", "num_ooms == 0"}, 2,
                 "--limit is for recordings");
}

}  // namespace
}  // namespace ohm
