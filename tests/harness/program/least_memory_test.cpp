// The least memory that is enough: ohm sweep --bytes through the real program.
#include <csignal>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/harness/program/program_test.h"
#include "tests/support/checkout_paths.h"

namespace ohm {
namespace {

using test::contains;
using test::ProgramResult;
using Json = nlohmann::json;

using LeastMemory = test::ProgramTest;

TEST_F(LeastMemory, FindsTheLeastMemoryThatIsEnough) {
  const std::string script = folder_.write("least.lua", R"lua(
local function run(d)
  local a = ohm.empty(3, 1024, 1024, {device = d})
  a = nil
  local b = ohm.empty(5, 1024, 1024, {device = d})
end
return ohm.scenario {
  name = "least", summary = "12 MiB, then 20 MiB", limits = {"num_ooms == 0"},
  problems = {large = function(d) ohm.zeros(128, 1024, 1024, {device = d}) end},
  controls = {two = run},
}
)lua");
  const ProgramResult ran = ohm({"sweep", script, "--bytes", "--json"});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  const Json variant = Json::parse(ran.out)["scenarios"][0]["variants"][0];
  // Both segments at once, or the first one given back for the second; the card has no context.
  EXPECT_EQ(variant["without_retry"]["bytes"], 32 << 20);
  EXPECT_EQ(variant["with_retries"]["bytes"], 20 << 20);
  EXPECT_EQ(variant["with_retries"]["fails"]["requested_bytes"], 20 << 20);
  EXPECT_EQ(variant["without_retry"]["shortage"], "retry");
}

TEST_F(LeastMemory, NamesNoCommandForACardWithoutMemory) {
  const std::string script = folder_.write("least.lua", R"lua(
return ohm.scenario {
  name = "least", summary = "Nothing, and an error that is handled", limits = {"num_ooms == 0"},
  gpu = {profile = "tiny-64m"},
  problems = {
    nothing = function() end,
    handled = function(d) pcall(ohm.empty, 3, 1024, 1024, {device = d}) end,
  },
}
)lua");
  const ProgramResult ran = ohm({"sweep", script, "--bytes", "--role", "problem", "--json"});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  const Json variants = Json::parse(ran.out)["scenarios"][0]["variants"];
  for (const Json& variant : variants) {
    const Json& least = variant["with_retries"];
    const bool is_handled = variant["name"] == "handled";
    EXPECT_EQ(least["shortage"], is_handled ? "handled_oom" : "no_device");
    EXPECT_EQ(least["fails_rerun"].is_null(), !is_handled);
  }
}

TEST_F(LeastMemory, FindsTheLeastMemoryOfWhatTakesAFractionOfIt) {
  folder_.write("half.lua", test::scenario_with_problem(R"lua(
  ohm.cuda.set_per_process_memory_fraction(0.5)
  local kept = {}
  for i = 1, 5 do kept[i] = ohm.ones(1024, 1024, {device = device}) end)lua"));
  const ProgramResult ran = ohm({"sweep", "half.lua", "--role", "problem", "--bytes", "--json"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const Json least = Json::parse(ran.out)["scenarios"][0]["variants"][0]["with_retries"];
  EXPECT_EQ(least["bytes"], 40 << 20) << "a segment of 20 MiB is half of it";
  for (const char* size : {"40MiB", "38MiB"}) {
    const bool is_enough = size == std::string("40MiB");
    const ProgramResult run =
        ohm({"run", "half.lua", "--gpu", std::string("tiny-64m,capacity=") + size, "--json"});
    const Json variant = Json::parse(run.out)["scenarios"][0]["variants"][0];
    EXPECT_EQ(variant["outcome"] == "oom", !is_enough) << size << variant;
  }
}

TEST_F(LeastMemory, FindsNoLeastMemoryForWhatHitsACapOrEndsTooLate) {
  folder_.write("endless.lua", test::scenario_with_problem("  while true do end"));
  EXPECT_EQ(
      ohm({"sweep", "endless.lua", "--role", "problem", "--bytes", "--instructions", "1000"}).code,
      3);
  const ProgramResult late = ohm({"sweep", "endless.lua", "--role", "problem", "--bytes",
                                  "--timeout", "0.2", "--instructions", "1000000000000"});
  EXPECT_EQ(late.code, 124);
  EXPECT_TRUE(contains(late.out, "the search took longer than 0.2 s")) << late.out;
}

TEST_F(LeastMemory, EndsTheSearchForTheLeastMemoryWithTheSignal) {
  folder_.write("endless.lua", test::scenario_with_problem("  while true do end"));
  test::Program program(folder_.path().string(), {"sweep", "endless.lua", "--role", "problem",
                                                  "--bytes", "--instructions", "1000000000000"});
  program.wait_for_work(0.3);
  program.send(SIGINT);
  const ProgramResult ran = program.wait();
  EXPECT_EQ(ran.code, 130) << ran.err;
  EXPECT_TRUE(contains(ran.out, "the search was interrupted")) << ran.out;
}

/// What a command of a report says when it is run.
Json repeated(const std::function<ProgramResult(const std::vector<std::string>&)>& ohm,
              const std::string& command) {
  std::istringstream text(command);
  std::vector<std::string> words(std::istream_iterator<std::string>(text), {});
  words.erase(words.begin());  // the program's name
  words.emplace_back("--json");
  return Json::parse(ohm(words).out)["scenarios"][0]["variants"][0];
}

TEST_F(LeastMemory, CertifiesTheLeastMemoryOfARealScenario) {
  const std::string scenario = OHM_SOURCE_DIR "/scenarios/missing_no_grad.lua";
  const ProgramResult ran = ohm({"sweep", scenario, "--bytes", "--case", "no_grad", "--json"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  const Json variant = Json::parse(ran.out)["scenarios"][0]["variants"][0];
  const auto run = [&](const std::vector<std::string>& words) { return ohm(words); };
  for (const char* const kind : {"with_retries", "without_retry"}) {
    const Json& minimum = variant[kind];
    const Json enough = repeated(run, minimum["rerun"]);
    EXPECT_FALSE(enough.contains("oom")) << enough["oom"];
    const Json failure = repeated(run, minimum["fails_rerun"]);
    ASSERT_TRUE(failure.contains("oom")) << failure;
    for (const char* const field : {"requested_bytes", "op", "line", "step", "device"}) {
      EXPECT_EQ(failure["oom"][field], minimum["fails"][field]) << field;
    }
  }
}

}  // namespace
}  // namespace ohm
