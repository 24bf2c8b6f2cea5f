// ohm fit through the real program: the largest value, the smallest card, and bad questions.
#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/harness/program/program_test.h"
#include "tests/support/checkout_paths.h"
#include "tests/support/schema_check.h"

namespace ohm {
namespace {

using test::contains;
using test::on_one_line;
using test::ProgramResult;
using Json = nlohmann::json;

/// `blocks` tensors of 1 MiB in 20 MiB segments and 512 fixed bytes; `kept` may keep no more
/// than 8.
constexpr const char* kBlocks = R"lua(
local params = ohm.params {blocks = {default = 4, min = 1, max = 256}, scale = 1.5}
local function fill(device, times)
  local fixed, kept = ohm.ones(128, {device = device}), {}
  for i = 1, params.blocks do kept[i] = ohm.ones(256 * 1024 * times, {device = device}) end
  ohm.step()
end
return ohm.scenario {
  name = "blocks", summary = "Blocks of a megabyte", gpu = {profile = "tiny-64m"},
  limits = {"peak_allocated_bytes <= 16 MiB", "num_ooms == 0"},
  problems = {
    single = function(d) fill(d, 1) end,
    double = function(d) fill(d, 2) end,
  },
  checks = {c = {run = function() error("x") end, raises = "x"}},
}
)lua";

class Fit : public test::ProgramTest {
 protected:
  Fit() { folder_.write("blocks.lua", kBlocks); }

  Json rows(std::vector<std::string> arguments) const {
    std::vector<std::string> all = {"fit", "blocks.lua", "--json"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const ProgramResult ran = ohm(all);
    EXPECT_EQ(0, ran.code) << ran.err;
    return Json::parse(ran.out)["rows"];
  }

  /// How many rows there are for "all": MIG's slices are no cards.
  std::size_t whole_cards() const {
    const Json gpus = Json::parse(ohm({"gpus", "--json"}).out);
    return static_cast<std::size_t>(std::count_if(gpus.begin(), gpus.end(), [](const Json& gpu) {
      return gpu["name"].get<std::string>().find("-mig-") == std::string::npos;
    }));
  }
};

TEST_F(Fit, FindsTheLargestValueOfEveryVariantButChecks) {
  const Json found = rows({"--vary", "blocks"});
  ASSERT_EQ(found.size(), 2U);
  // 32 segments of 2 MiB: two blocks of 1 MiB in each, one beside the 512 bytes.
  EXPECT_EQ(found[0]["variant"], "single");
  EXPECT_EQ(found[0]["best"]["value"], 63);
  EXPECT_EQ(found[0]["best"]["peak_allocated_bytes"], 63 * 1048576 + 512);
  EXPECT_EQ(found[0]["next"]["kind"], "out_of_memory");
  EXPECT_EQ(found[0]["line"]["bytes_per_unit"], 1048576);
  EXPECT_EQ(found[0]["line"]["fixed_bytes"], 512);
  EXPECT_EQ(found[0]["line"]["largest_deviation_bytes"], 0);
  EXPECT_EQ(found[0]["best_within_limits"]["value"], 15);
  EXPECT_EQ(found[0]["next_limit"]["limit"], "peak_allocated_bytes <= 16 MiB");
  EXPECT_EQ(found[1]["line"]["bytes_per_unit"], 2097152);
}

TEST_F(Fit, PrintsTheLineTheNextLimitAndTheMargin) {
  const ProgramResult ran =
      ohm({"fit", "blocks.lua", "--vary", "blocks=1..100", "--case", "single"});
  EXPECT_EQ(0, ran.code) << ran.err;
  for (const std::string part :
       {"largest blocks that fits 63 ",
        "at 64: out of memory in step 1 on cuda:0: 1.00 MiB, blocks.lua:5",
        "within its own limits 15; 16 breaks peak_allocated_bytes <= 16 MiB",
        "512 bytes + 1.00 MiB (1,048,576 bytes) × blocks, exactly at",
        "64.00 MiB − 0 B of context (modelled) − 64.00 MiB reserved at the peak (exact)",
        "Not counted: cuDNN's workspaces"}) {
    EXPECT_TRUE(contains(on_one_line(ran.out), part)) << part << "\n" << ran.out;
  }
}

TEST_F(Fit, ComparesGpus) {
  const Json found = rows({"--vary", "blocks", "--gpus", "all", "--case", "single"});
  std::map<std::string, Json> by_gpu;
  for (const Json& row : found) by_gpu[row["gpu"]] = row;
  EXPECT_EQ(by_gpu.size(), whole_cards());
  EXPECT_EQ(by_gpu["tiny-64m"]["best"]["value"], 63);
  EXPECT_EQ(by_gpu["a100-80g"]["outcome"], "all_fit");
  EXPECT_EQ(by_gpu["a100-80g"]["best"]["value"], 256);
  EXPECT_EQ(rows({"--vary", "blocks", "--gpu", "tiny-64m,capacity=32MiB", "--case",
                  "single"})[0]["best"]["value"],
            31);
}

// A run takes tens of milliseconds here: it is how many there are that decides how long it takes.
TEST_F(Fit, TriesAModelOfSevenBillionParametersAFewTimesOnEveryCard) {
  std::filesystem::copy(std::string(OHM_SOURCE_DIR) + "/scenarios/lib", folder_.file("lib"),
                        std::filesystem::copy_options::recursive);
  folder_.write("blocks.lua", R"lua(
local llama, F = require("models.llama"), ohm.nn.functional
local params = ohm.params {batch = {default = 1, min = 1}}
return ohm.scenario {
  name = "llama", summary = "Training the head of a 7 B model",
  gpu = {profile = "a100-80g", values = false}, limits = {"num_ooms == 0"},
  problems = {
    head = function(device)
      local model = llama {size = "7b", device = device, dtype = "bfloat16"}
      for _, p in ipairs(model:parameters()) do p.requires_grad = false end
      model.lm_head.weight.requires_grad = true
      local optimizer = ohm.optim.AdamW({model.lm_head.weight})
      local tokens = ohm.zeros(params.batch, 256, {dtype = "int64", device = device})
      local loss = F.cross_entropy(model(tokens):view(-1, 32000), tokens:view(-1))
      loss:backward()
      optimizer:step()
    end,
  },
}
)lua");
  std::int64_t runs = 0;
  std::map<std::string, Json> best;
  for (const Json& row : rows({"--vary", "batch=1..65536", "--gpus", "all"})) {
    runs += row["runs"].get<std::int64_t>();
    best[row["gpu"]] = row["best"];
  }
  constexpr std::int64_t kFewRuns = 4;
  EXPECT_LE(runs, kFewRuns * static_cast<std::int64_t>(best.size()));
  EXPECT_EQ(best.size(), whole_cards());
  EXPECT_TRUE(best["k80-12g"].is_null());
  EXPECT_GT(best["h200-141g"]["value"], best["a100-80g"]["value"]);
}

TEST_F(Fit, FindsTheSmallestCard) {
  const Json row =
      rows({"--vary", "capacity", "--set", "blocks=10", "--case", "single", "--no-limits"})[0];
  EXPECT_EQ(row["best"]["value"], 12 * 1048576);
  EXPECT_EQ(row["next"]["kind"], "out_of_memory");
  EXPECT_EQ(row["smallest_gpu"], "p400-2g");
}

TEST_F(Fit, JsonKeepsTheSchemaThatIsShipped) {
  const Json schema = Json::parse(
      test::read_file(std::string(OHM_SOURCE_DIR) + "/reports/json/ohm.fit.schema.json"));
  const test::SchemaCheck check(schema);
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"--vary", "blocks"},
        {"--vary", "capacity"},
        {"--vary", "blocks=100..200"},
        {"--vary", "blocks", "--gpus", "all", "--no-limits"}}) {
    std::vector<std::string> all = {"fit", "blocks.lua", "--json"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    EXPECT_EQ("", check.errors(Json::parse(ohm(all).out)));
  }
}

TEST_F(Fit, SaysSoWhereNothingFits) {
  const Json row = rows({"--vary", "blocks=100..200", "--case", "single"})[0];
  EXPECT_EQ(row["outcome"], "none_fits");
  EXPECT_EQ(row["needed_bytes"], 102 * 1048576);
}

TEST_F(Fit, TriesTheValuesThatTheScenarioAllows) {
  const ProgramResult ran =
      ohm({"fit", "blocks.lua", "--vary", "blocks=0..5000", "--case", "single", "--json"});
  EXPECT_EQ(0, ran.code);
  EXPECT_EQ("ohm: blocks.lua allows only blocks from 1 to 256\n", ran.err);
  const Json found = Json::parse(ran.out);
  EXPECT_EQ(found["least"], 1);
  EXPECT_EQ(found["most"], 256);
  EXPECT_EQ(found["rows"][0]["best"]["value"], 63);
}

TEST_F(Fit, ErrorsOfTheScriptAreNoAnswer) {
  folder_.write("wrong.lua",
                "local params = ohm.params {n = 1}\n"
                "return ohm.scenario {name = 'wrong', limits = {'num_ooms == 0'},\n"
                "  problems = {it = function() return params.n.x end}}\n");
  const ProgramResult ran = ohm({"fit", "wrong.lua", "--vary", "n"});
  EXPECT_EQ(3, ran.code);
  EXPECT_TRUE(contains(ran.out, "wrong.lua:3: attempt to index a number value")) << ran.out;
}

TEST_F(Fit, EndsWithTheSignalThatInterruptsIt) {
  folder_.write("endless.lua",
                "ohm.params {n = 1}\n"
                "return ohm.scenario {name = 'endless', limits = {'num_ooms == 0'},\n"
                "  problems = {it = function() while true do end end}}\n");
  test::Program program(folder_.path().string(), {"fit", "endless.lua", "--vary", "n"});
  program.wait_for_work(0.3);
  program.send(SIGINT);
  EXPECT_EQ(130, program.wait().code);
}

TEST_F(Fit, ShardsAreMergedToTheBytesOfOneMachine) {
  const std::vector<std::string> asked = {"fit", "blocks.lua", "--vary", "blocks", "--gpus", "all"};
  const auto with = [&](const std::vector<std::string>& more) {
    std::vector<std::string> all = asked;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  const ProgramResult whole = ohm(with({"--json"}));
  // Two variants: the last shard has none.
  for (const std::string number : {"1", "2", "3"}) {
    const ProgramResult part =
        ohm(with({"--shard", number + "/3", "--report", "json=" + number + ".json"}));
    EXPECT_EQ(part.code, 0) << part.err;
  }
  const Json first = Json::parse(test::read_file(file("1.json")));
  EXPECT_EQ(first["rows"].size(), whole_cards());
  EXPECT_EQ(first["shard"]["settings"]["vary"], "blocks");
  const Json schema =
      Json::parse(test::read_file(OHM_SOURCE_DIR "/reports/json/ohm.fit.schema.json"));
  EXPECT_EQ(test::SchemaCheck(schema).errors(first), "");
  EXPECT_EQ(ohm({"merge", "3.json", "1.json", "2.json"}).out, whole.out);
  const ProgramResult missing = ohm({"merge", "1.json", "3.json"});
  EXPECT_EQ(missing.code, 2);
  EXPECT_TRUE(contains(missing.err, "shard 2/3 is missing")) << missing.err;
  Json cut = first;
  cut["rows"] = Json::array();
  folder_.write("cut.json", cut.dump());
  const ProgramResult lost = ohm({"merge", "cut.json", "2.json", "3.json"});
  EXPECT_EQ(lost.code, 2);
  EXPECT_TRUE(contains(lost.err, "rows are missing")) << lost.err;
  ohm({"fit", "blocks.lua", "--vary", "blocks=1..9", "--gpus", "all", "--shard", "2/3", "--report",
       "json=2.json"});
  const ProgramResult other = ohm({"merge", "1.json", "2.json", "3.json"});
  EXPECT_EQ(other.code, 2);
  EXPECT_TRUE(
      contains(other.err, "2.json: of other work than 1.json: its least is \"1\", not \"\""))
      << other.err;
}

TEST_F(Fit, GoesOnFromWhatIsKnown) {
  const std::vector<std::string> asked = {"fit", "blocks.lua", "--vary",   "blocks", "--gpus",
                                          "all", "--json",     "--resume", "known"};
  const std::string whole = ohm(asked).out;
  const std::string known = test::read_file(file("known"));
  // The beginning, and some of the rows.
  std::size_t end = 0;
  for (int line = 0; line < 15; ++line) end = known.find('\n', end) + 1;
  folder_.write("known", known.substr(0, end + 7));
  EXPECT_EQ(ohm(asked).out, whole);
  EXPECT_EQ(test::read_file(file("known")).size(), known.size());
  const ProgramResult other = ohm({"fit", "blocks.lua", "--vary", "blocks", "--resume", "known"});
  EXPECT_EQ(other.code, 2);
  EXPECT_TRUE(contains(other.err, "of other work: its gpus is")) << other.err;
}

TEST_F(Fit, RefusesQuestionsThatMakeNoSense) {
  struct Bad {
    std::vector<std::string> arguments;
    int code;
    std::string says;
  };
  const std::vector<Bad> cases = {
      {{"blocks.lua"}, 2, "name what to vary"},
      {{"--vary", "blocks"}, 2, "name one scenario"},
      {{"blocks.lua", "--vary", "block"}, 2, "(did you mean \"blocks\"?)"},
      {{"blocks.lua", "--vary", "blocks=9..3"}, 2, "9 is more than 3"},
      {{"blocks.lua", "--vary", "blocks=1..many"}, 2, "is not NAME=LEAST..MOST"},
      {{"blocks.lua", "--vary", "blocks=-3..0"}, 2, "blocks is at least 1"},
      {{"blocks.lua", "--vary", "blocks=257..5000"}, 2, "blocks is at most 256"},
      {{"blocks.lua", "--vary", "capacity=1..2"}, 2, "takes no range"},
      {{"blocks.lua", "--vary", "blocks", "--set", "blocks=3"}, 2, "this parameter is varied"},
      {{"blocks.lua", "--vary", "blocks", "--gpu", "a100"}, 2, "did you mean"},
      {{"blocks.lua", "--vary", "blocks", "--case", "none"}, 5, "no variant matches"},
      {{"blocks.lua", "--vary", "blocks", "--shard", "3/2"}, 2, "--shard"},
      {{"blocks.lua", "--vary", "blocks", "--report", "html=a.html"}, 2, "unknown report format"},
      {{"blocks.lua", "--vary", "blocks", "--launcher", "slurm"}, 2, "name a folder"},
      {{"missing.lua", "--vary", "blocks"}, 3, "no such file"}};
  for (const Bad& bad : cases) {
    std::vector<std::string> arguments = {"fit"};
    arguments.insert(arguments.end(), bad.arguments.begin(), bad.arguments.end());
    const ProgramResult ran = ohm(arguments);
    EXPECT_EQ(bad.code, ran.code) << bad.says;
    EXPECT_TRUE(contains(ran.err, bad.says)) << ran.err;
  }
}

}  // namespace
}  // namespace ohm
