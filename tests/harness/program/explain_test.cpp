// ohm explain through the real program.
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "allocator_shim/base/format_bytes.h"
#include "tests/harness/program/program_test.h"
#include "tests/support/checkout_paths.h"

namespace ohm {
namespace {

using test::contains;
using test::on_one_line;
using test::ProgramResult;

class Explain : public test::ProgramTest {
 protected:
  Explain() {
    std::filesystem::create_directory(folder_.path() / "scenarios");
    folder_.write(
        "scenarios/kept.lua",
        std::string("-- Symptom: \"memory grows\"\n--\n-- A table keeps them. What to do: "
                    "let them go.\n--\n-- Chapter: leaks\n-- PyTorch:\n--     del x\n-- "
                    "Keras: the same\n") +
            test::kGoodScenario);
  }
};

TEST_F(Explain, PrintsTheWordsAndWhatARunMeasures) {
  const ProgramResult ran = ohm({"explain", "kept"});
  EXPECT_EQ(0, ran.code) << ran.err;
  for (const std::string part :
       {"What you see memory grows Why", "Why A table keeps them. What", "What to do let them go.",
        "What goes wrong, on 1 × tiny-64m of 64.00 MiB",
        "growth_bytes_per_step 0 B instead of 512 B", "In PyTorch del x ",
        "In TensorFlow/Keras the same ", "Measured now: ohm run scenarios/kept.lua"}) {
    EXPECT_TRUE(contains(on_one_line(ran.out), part)) << part << "\n" << ran.out;
  }
}

std::string peak_in(const nlohmann::json& variant) {
  std::uint64_t peak = 0;
  for (const auto& device : variant["devices"]) {
    peak = std::max(peak, device["peak_allocated_bytes"].get<std::uint64_t>());
  }
  return human_bytes(peak);
}

TEST_F(Explain, PrintsOnlyFiguresOfTheRun) {
  const std::string leaked = OHM_SOURCE_DIR "/scenarios/leaked_loss_graph.lua";
  for (const std::string& path : {std::string("scenarios/kept.lua"), leaked}) {
    const nlohmann::json run = nlohmann::json::parse(ohm({"run", "--json", path}).out);
    const ProgramResult document = ohm({"explain", path, "--markdown"});
    EXPECT_EQ(0, document.code) << document.err;
    const auto& variants = run["scenarios"][0]["variants"];
    for (const auto& variant : variants) {
      const std::string row =
          "| `" + variant["name"].get<std::string>() + "` | " + peak_in(variant);
      EXPECT_TRUE(contains(document.out, row)) << row << "\n" << document.out;
      EXPECT_TRUE(contains(document.out, variant["reason"].get<std::string>())) << document.out;
    }
    std::size_t rows = 0;
    for (std::size_t at = 0; (at = document.out.find("| `", at)) != std::string::npos; ++at) ++rows;
    EXPECT_EQ(rows, variants.size()) << document.out;
  }
}

TEST_F(Explain, MakesAHandoutOfAll) {
  const std::string handout = ohm({"explain", "--all", "--markdown"}).out;
  EXPECT_TRUE(contains(handout, "## Things that live too long\n\n### good: Tensors")) << handout;
  EXPECT_TRUE(contains(handout, "```python\ndel x\n```\n")) << handout;
}

TEST_F(Explain, FailsWhereTheScenarioDoes) {
  folder_.write("scenarios/other.lua",
                "return ohm.scenario {name = 'other', limits = {'steps == 0'},\n"
                "  problems = {none = function() end}}\n");
  const ProgramResult ran = ohm({"explain", "other"});
  EXPECT_EQ(1, ran.code);
  EXPECT_TRUE(contains(ran.out, "this is not what the scenario says: failed")) << ran.out;
}

TEST_F(Explain, ReadsAMessageFromAFileAndFromTheStandardInput) {
  const std::string message =
      "CUDA out of memory. Tried to allocate 668.00 MiB. GPU 0 has a total capacity of 8.00 GiB of "
      "which 2.40 GiB is free. 6.00 GiB allowed; Of the allocated memory 5.60 GiB is allocated by "
      "PyTorch, and 3.95 MiB is reserved by PyTorch but unallocated.\n";
  folder_.write("crash.log", message);
  const ProgramResult from_file = ohm({"explain", "--message", "crash.log"});
  EXPECT_EQ(0, from_file.code) << from_file.err;
  EXPECT_TRUE(contains(from_file.out, "reached the fraction that it is allowed")) << from_file.out;
  const std::string path = file("crash.log");
  const ProgramResult from_input =
      test::run_program(folder_.path().string(), {"explain", "--message"}, [path] {
        const int input = ::open(path.c_str(), O_RDONLY);
        ::dup2(input, STDIN_FILENO);
      });
  EXPECT_EQ(from_file.out, from_input.out) << from_input.err;
}

TEST_F(Explain, ExplainsTheMessageOfAVirtualGpu) {
  folder_.write("full.lua",
                "local function fill(d)\n  local t = {}\n"
                "  for i = 1, 99 do t[i] = ohm.ones(262144, {device = d}) end\nend\n"
                "return ohm.scenario {name = 'full', gpu = {profile = 'tiny-64m'},\n"
                "  limits = {'num_ooms == 0'}, problems = {it = fill}}\n");
  folder_.write("full.log", ohm({"run", "full.lua"}).out);
  const ProgramResult ran = ohm({"explain", "--message", "full.log"});
  EXPECT_EQ(0, ran.code) << ran.err;
  EXPECT_TRUE(
      contains(ran.out, "GPU 0: This process's own tensors fill the GPU: 64.00 MiB of 64.00 MiB."))
      << ran.out;
  EXPECT_TRUE(contains(ran.out, "64.00 MiB  capacity of the card\n")) << ran.out;
}

TEST_F(Explain, SaysWhatIsWrongWithAQuestion) {
  folder_.write("no.log", "Segmentation fault\n");
  struct Bad {
    std::vector<std::string> arguments;
    std::string says;
  };
  const std::vector<Bad> cases = {
      {{}, "name a pitfall"},
      {{"kep"}, "unknown pitfall \"kep\" (did you mean \"kept\"?)"},
      {{"--all", "kept"}, "--all explains every pitfall"},
      {{"--all", "--message", "no.log"},
       "--message takes neither pitfalls nor --all or --markdown"},
      {{"--message", "no.log"}, "this is not an out-of-memory message of PyTorch"},
      {{"--message", "missing.log"}, "cannot read missing.log: No such file or directory"},
      {{"--message", "scenarios"}, "scenarios is a directory"}};
  for (const Bad& bad : cases) {
    std::vector<std::string> arguments = {"explain"};
    arguments.insert(arguments.end(), bad.arguments.begin(), bad.arguments.end());
    const ProgramResult ran = ohm(arguments);
    EXPECT_EQ(2, ran.code) << bad.says;
    EXPECT_TRUE(contains(ran.err, bad.says)) << ran.err;
    EXPECT_EQ("", ran.out);
  }
}

}  // namespace
}  // namespace ohm
