// ohm fit -- COMMAND, on virtual GPUs of many sizes. PyTorch is stood in for by
// tests/harness/support/stand_in_torch.
#include <gmock/gmock.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/harness/program/program_test.h"
#include "tests/harness/program/torch_script.h"

namespace ohm {
namespace {

using Json = nlohmann::json;
using test::ProgramResult;
using test::torch_script;
using ::testing::HasSubstr;

class FitCommand : public test::ProgramTest {
 protected:
  FitCommand() {
    ::setenv("PYTHONDONTWRITEBYTECODE", "1", 1);  // nothing into the tree of the sources
    folder_.write("batches.py", torch_script(R"(
batch = int(sys.argv[1].split("=")[1])
weights = torch.empty(4 << 20)
for _ in range(2):
    x = torch.empty(batch << 20)
    y = torch.empty(batch << 20)
    del x, y
)"));
  }
  Json fit(std::vector<std::string> options, const std::vector<std::string>& command) {
    options.insert(options.begin(), {"fit", "--json"});
    options.emplace_back("--");
    options.insert(options.end(), command.begin(), command.end());
    ran_ = ohm(options);
    return ran_.code == 0 ? Json::parse(ran_.out) : Json();
  }
  ProgramResult ran_;
};

TEST_F(FitCommand, FindsTheLargestValue) {
  const Json result =
      fit({"--vary", "batch=1..1000", "--gpu", "tiny-64m"}, {"python3", "batches.py", "batch=3"});
  ASSERT_EQ(0, ran_.code) << ran_.err;
  const Json& row = result["rows"].at(0);
  // 64 MiB less 4 MiB of weights, for two tensors whose segments are multiples of 2 MiB.
  EXPECT_EQ(30, row["best"]["value"]);
  EXPECT_EQ(31, row["next"]["value"]);
  EXPECT_THAT(row["next"]["reason"].get<std::string>(), HasSubstr("batches.py:8"));
  // What the caching allocator would do is a poor guide to an allocator that keeps nothing.
  EXPECT_LE(row["runs"].get<int>(), 20);
}

TEST_F(FitCommand, FindsTheSmallestGpu) {
  const Json result =
      fit({"--vary", "capacity", "--gpu", "tiny-64m"}, {"python3", "batches.py", "batch=8"});
  ASSERT_EQ(0, ran_.code) << ran_.err;
  EXPECT_EQ(20 << 20, result["rows"].at(0)["best"]["value"]);
}

TEST_F(FitCommand, VariesOptionsPlaceholdersAndVariables) {
  folder_.write("options.py",
                torch_script("import os\n"
                             "words = dict(w.lstrip('-').split('=') for w in sys.argv[1:])\n"
                             "batch = int(words.get('batch') or os.environ['BATCH'])\n"
                             "x = torch.empty(batch << 20)\n"));
  const auto largest = [&](const std::string& name, const std::vector<std::string>& command) {
    const Json result = fit({"--vary", name + "=1..1000", "--gpu", "tiny-64m"}, command);
    return ran_.code == 0 ? result["rows"].at(0)["best"]["value"].get<int>() : -1;
  };
  EXPECT_EQ(64, largest("batch", {"python3", "options.py", "--batch=2"}));
  EXPECT_EQ(64, largest("b", {"python3", "options.py", "batch={b}"}));
  ::setenv("BATCH", "1", 1);
  EXPECT_EQ(64, largest("BATCH", {"python3", "options.py"}));
  ::unsetenv("BATCH");
  EXPECT_EQ(-1, largest("batch", {"python3", "options.py"}));
  EXPECT_THAT(ran_.err, HasSubstr("write {batch} where the value belongs"));
}

TEST_F(FitCommand, ShardsAddUpToTheWhole) {
  const std::vector<std::string> asked = {"fit",    "--vary",   "batch=1..1000",
                                          "--gpu",  "tiny-64m", "--gpu",
                                          "t4-16g", "--gpu",    "tiny-64m,capacity=32MiB"};
  const auto with = [&](const std::vector<std::string>& options) {
    std::vector<std::string> words = asked;
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--", "python3", "batches.py", "batch=3"});
    return ohm(words);
  };
  const ProgramResult whole = with({"--json"});
  ASSERT_EQ(0, whole.code) << whole.err;
  with({"--report", "json=1.json", "--shard", "1/2"});
  // Nothing is done twice.
  with({"--report", "json=2.json", "--shard", "2/2", "--resume", "known"});
  const std::string known = test::read_file(file("known"));
  with({"--report", "json=2.json", "--shard", "2/2", "--resume", "known"});
  EXPECT_EQ(known, test::read_file(file("known")));
  const ProgramResult merged = ohm({"merge", "1.json", "2.json"});
  EXPECT_EQ(whole.out, merged.out) << merged.err;
}

TEST_F(FitCommand, AProgramThatFailsIsAnError) {
  const Json result =
      fit({"--vary", "batch=1..9"}, {"python3", "-c", "raise SystemExit('no data')", "batch=1"});
  EXPECT_EQ(3, ran_.code);
  EXPECT_THAT(ran_.out, HasSubstr("exit status 1: no data"));
}

TEST_F(FitCommand, AValueThatFailsDoesNotFit) {
  folder_.write("odd.py", torch_script("batch = int(sys.argv[1].split('=')[1])\n"
                                       "if batch > 20: sys.exit('too many')\n"
                                       "x = torch.empty(batch << 20)\n"));
  const Json result =
      fit({"--vary", "batch=1..1000", "--gpu", "tiny-64m"}, {"python3", "odd.py", "batch=3"});
  ASSERT_EQ(0, ran_.code) << ran_.err;
  EXPECT_EQ(20, result["rows"].at(0)["best"]["value"]);
  EXPECT_EQ("exit status 1: too many", result["rows"].at(0)["next"]["reason"]);
}

/// A program that one kind of GPU is too old for, and what fit says of three kinds.
class FitCommandOnOldGpus : public FitCommand {
 protected:
  Json rows(const std::vector<std::string>& gpus) {
    folder_.write("picky.py", torch_script("import os\n"
                                           "batch = int(sys.argv[1].split('=')[1])\n"
                                           "gpu = os.environ['OHM_GPU'].split(',')[0]\n"
                                           "if gpu in ('k80-12g', 'v100-16g'):\n"
                                           "    sys.exit('PtxasError: too old: ' + gpu)\n"
                                           "x = torch.empty(batch << 30)\n"));
    std::vector<std::string> options = {"fit", "--vary", "batch=1..1000", "--report",
                                        "json=fit.json"};
    for (const std::string& gpu : gpus) options.insert(options.end(), {"--gpu", gpu});
    options.insert(options.end(), {"--", "python3", "picky.py", "batch=3"});
    ran_ = ohm(options);
    return Json::parse(test::read_file(file("fit.json")))["rows"];
  }
};

TEST_F(FitCommandOnOldGpus, EachIsExplainedByItsOwnRun) {
  const Json found = rows({"k80-12g", "t4-16g", "v100-16g"});
  EXPECT_EQ(3, ran_.code) << ran_.err;
  EXPECT_EQ("exit status 1: PtxasError: too old: k80-12g", found.at(0)["error"]);
  EXPECT_EQ(14, found.at(1)["best"]["value"]);
  EXPECT_EQ("exit status 1: PtxasError: too old: v100-16g", found.at(2)["error"]);
}

TEST_F(FitCommandOnOldGpus, OthersAreNotSearchedForAValueThatFits) {
  const Json found = rows({"t4-16g", "v100-16g"});
  EXPECT_EQ(14, found.at(0)["best"]["value"]);
  EXPECT_EQ("exit status 1: PtxasError: too old: v100-16g", found.at(1)["error"]);
  EXPECT_LE(found.at(1)["runs"].get<int>(), 3);
}

TEST_F(FitCommand, TheCauseIsNoProgressBar) {
  folder_.write("bar.py",
                torch_script("print('Epoch 1 of 3')\n"
                             "sys.stderr.write('Traceback (most recent call last):\\n  ...\\n'\n"
                             "                 'ValueError: my real error\\n\\r  0%|    | 0/2 '\n"
                             "                 '[00:01<?, ?it/s]\\n')\n"
                             "sys.exit(1)  # {batch}\n"));
  fit({"--vary", "batch=1..9"}, {"python3", "bar.py", "{batch}"});
  EXPECT_EQ(3, ran_.code);
  EXPECT_THAT(ran_.out, HasSubstr("exit status 1: ValueError: my real error"));
}

TEST_F(FitCommand, ARunThatTakesTooLongIsEnded) {
  fit({"--vary", "batch=1..9", "--timeout", "0.2"}, {"sh", "-c", "sleep 60", "batch=1"});
  EXPECT_EQ(3, ran_.code);
  EXPECT_THAT(ran_.out, HasSubstr("ran longer than 0.2 s"));
}

TEST_F(FitCommand, IsInterruptedWhateverTheCommandMakesOfIt) {
  folder_.write("stubborn.sh", "trap 'exit 0' INT\ntouch ready\nwhile :; do sleep 0.05; done\n");
  test::Program program(folder_.path().string(),
                        {"fit", "--vary", "batch=1..9", "--", "sh", "stubborn.sh", "batch=1"});
  while (!std::filesystem::exists(file("ready"))) ::usleep(1000);
  program.send(SIGINT);
  EXPECT_EQ(130, program.wait().code);
}

TEST_F(FitCommand, OptionsOfScenariosAreRefused) {
  fit({"--vary", "batch=1..9", "--set", "x=1"}, {"true", "batch=1"});
  EXPECT_EQ(2, ran_.code);
  EXPECT_THAT(ran_.err, HasSubstr("--set: applies to scenarios"));
}

}  // namespace
}  // namespace ohm
