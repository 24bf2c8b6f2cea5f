// Work on several types of cards, as job arrays by the Slurm of the distribution: one node has
// a card of each type, and the stand-in driver shows a task the one that it was given.
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/harness/program/cuda_program_test.h"
#include "tests/support/golden.h"
#include "tests/support/local_slurm.h"

namespace ohm {
namespace {

using Json = nlohmann::json;
using Words = std::vector<std::string>;
using test::LocalSlurm;
using test::Program;
using test::ProgramResult;
using testing::HasSubstr;

/// What takes long enough to be killed.
constexpr const char* kSlow = R"lua(
local function run(device)
  for _ = 1, 3e7 do end
  return {one = ohm.ones(4, {device = device}):sum()}
end
return ohm.scenario {
  name = "slow", summary = "A tensor, after a while",
  gpu = {profile = "tiny-64m"}, limits = {"peak_allocated_bytes <= 1 KiB"},
  problems = {waits = run}, mitigations = {waits_too = run},
}
)lua";

class CardTypes : public test::CudaProgramTest {
 protected:
  static void SetUpTestSuite() {
    if (!LocalSlurm::lack().empty()) return;
    local_slurm = std::make_unique<LocalSlurm>(Words{"a100", "h100"});
  }
  static void TearDownTestSuite() { local_slurm.reset(); }
  void SetUp() override {
    if (!local_slurm) GTEST_SKIP() << LocalSlurm::lack();
    CudaProgramTest::SetUp();
    machine_is("devices=2 capacity=134217728 visible=environment");
    folder_.write("slow.lua", kSlow);
  }

  /// On this machine, which has no card: the nodes have the driver.
  std::unique_ptr<Program> start(const Words& command, const std::string& types) const {
    Words words = command;
    words.insert(
        words.end(),
        {"--launcher", "slurm", "--shards", "2", "--resume", "night", "--card-types", types,
         std::string("--slurm-option=--export=ALL,OHM_CUDA_DRIVER=") + OHM_STAND_IN_DRIVER});
    return std::make_unique<Program>(folder_.path().string(), words, [] {
      ::setenv("SLURM_CONF", local_slurm->configuration().c_str(), 1);
      ::setenv("OHM_CUDA_DRIVER", "libno-driver.so.1", 1);
    });
  }
  /// By one machine with one of the cards.
  ProgramResult on_card(int ordinal, Words command) const {
    command.emplace_back("--json");
    return test::run_program(folder_.path().string(), command, [ordinal] {
      ::setenv("CUDA_VISIBLE_DEVICES", std::to_string(ordinal).c_str(), 1);
    });
  }
  std::string text(const std::string& name) const { return test::read_file(file(name)); }

  static std::unique_ptr<LocalSlurm> local_slurm;
  const Words verify_ = {"verify-device", "slow.lua", "segments.lua", "good.lua"};
};

std::unique_ptr<LocalSlurm> CardTypes::local_slurm;

TEST_F(CardTypes, OneReportHasATableOfEachAsOneMachineWritesIt) {
  const auto program = start(verify_, "h100,a100");
  program->wait_until([&] { return local_slurm->running_tasks() > 0; });
  // A task may end before it is killed.
  program->wait_until([&] {
    local_slurm->output_of("scancel --signal=KILL --full --state=RUNNING --me");
    return testing::Value(program->err(), HasSubstr("ended without a report"));
  });
  const ProgramResult array = program->wait();
  EXPECT_EQ(array.code, 0) << array.err;
  EXPECT_THAT(array.err, testing::ContainsRegex("shard [12] on [ah]100 ended without a report"));
  folder_.write("a100.json", on_card(0, verify_).out);
  folder_.write("h100.json", on_card(1, verify_).out);
  const Json merged = Json::parse(text("night/merged.json"));
  ASSERT_EQ(merged["cards"].size(), 2);
  EXPECT_EQ(merged["cards"][0], Json::parse(text("a100.json"))["cards"][0]);
  EXPECT_EQ(merged["cards"][1], Json::parse(text("h100.json"))["cards"][0]);
  EXPECT_EQ(ohm({"merge", "a100.json", "h100.json"}).out, text("night/merged.json"));
  EXPECT_EQ(ohm({"merge", "night"}).out, text("night/merged.json"));
  EXPECT_THAT(array.out, HasSubstr("card     Stand-in 0 ("));
  EXPECT_THAT(array.out, HasSubstr("card     Stand-in 1 ("));
  for (const char* const part : {"reports/a100/00001.json", "reports/h100/00002.json"}) {
    EXPECT_TRUE(std::filesystem::exists(file(std::string("night/") + part))) << part;
  }
  // All is known: nothing is submitted, also where fewer types are asked for.
  EXPECT_EQ(start(verify_, "h100,a100")->wait().err, "");
  const ProgramResult fewer = start({"verify-device", "slow.lua", "segments.lua", "good.lua",
                                     "--report", "json=fewer.json"},
                                    "h100")
                                  ->wait();
  EXPECT_EQ(fewer.err, "");
  EXPECT_EQ(text("fewer.json"), text("h100.json"));
}

TEST_F(CardTypes, ATypeThatSlurmDoesNotKnowIsRefusedBeforeAnythingRuns) {
  const ProgramResult refused = start(verify_, "a100,x100")->wait();
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("a card of the type x100: Slurm refused the job: "));
  EXPECT_THAT(refused.err, HasSubstr("Requested node configuration is not available"));
  EXPECT_THAT(refused.err, Not(HasSubstr("submitted")));
  EXPECT_EQ(local_slurm->output_of("squeue --noheader"), "");
}

TEST_F(CardTypes, RunsAndSweepsHaveAReportOfEach) {
  const Words run = {"run", "segments.lua", "good.lua", "--gpu", "cuda"};
  const Words sweep = {"sweep", "segments.lua", "good.lua", "--gpu", "cuda", "--points", "unique"};
  for (const Words& command : {run, sweep}) {
    std::filesystem::remove_all(file("night"));
    const ProgramResult array = start(command, "a100,h100")->wait();
    EXPECT_EQ(array.code, 0) << array.err;
    EXPECT_THAT(array.out, testing::StartsWith("a100\n"));
    EXPECT_THAT(array.out, HasSubstr("\nh100\n"));
    EXPECT_EQ(text("night/merged-a100.json"), on_card(0, command).out);
    EXPECT_EQ(text("night/merged-h100.json"), on_card(1, command).out);
    EXPECT_THAT(array.err, Not(HasSubstr("ended without a report")));
    const ProgramResult both = ohm({"merge", "night"});
    EXPECT_EQ(both.code, 2);
    EXPECT_THAT(both.err,
                HasSubstr("night/reports/a100 and night/reports/h100 are of two types of cards, "
                          "each of which has a report of its own: ohm merge night/reports/a100"));
    EXPECT_EQ(ohm({"merge", "night/reports/a100"}).out, text("night/merged-a100.json"));
  }
}

}  // namespace
}  // namespace ohm
