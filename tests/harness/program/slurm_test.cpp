// Sweeps and runs as job arrays, by the Slurm of the distribution.
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "tests/harness/program/program_test.h"
#include "tests/harness/program/torch_script.h"
#include "tests/support/checkout_paths.h"
#include "tests/support/golden.h"
#include "tests/support/local_slurm.h"

namespace ohm {
namespace {

using test::contains;
using test::LocalSlurm;
using test::Program;
using test::ProgramResult;
using Words = std::vector<std::string>;

class SlurmTest : public test::ProgramTest {
 protected:
  static void SetUpTestSuite() {
    if (LocalSlurm::lack().empty()) local_slurm = std::make_unique<LocalSlurm>();
  }
  static void TearDownTestSuite() { local_slurm.reset(); }
  void SetUp() override {
    if (!local_slurm) GTEST_SKIP() << LocalSlurm::lack();
  }

  Words launched(Words command, const Words& more = {}) const {
    for (const char* const word : {"--launcher", "slurm", "--shards", "7", "--resume", "night"})
      command.emplace_back(word);
    command.insert(command.end(), more.begin(), more.end());
    return command;
  }
  static Words joined(Words words, const Words& options, const Words& program) {
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), program.begin(), program.end());
    return words;
  }
  std::unique_ptr<Program> start(const Words& arguments) const {
    return std::make_unique<Program>(folder_.path().string(), arguments, [] {
      ::setenv("SLURM_CONF", local_slurm->configuration().c_str(), 1);
    });
  }
  ProgramResult with_slurm(const Words& arguments) const { return start(arguments)->wait(); }

  bool has_report(int shard) const {
    return !test::read_file(file("night/reports/0000" + std::to_string(shard) + ".json")).empty();
  }

  static std::unique_ptr<LocalSlurm> local_slurm;
  const std::string catalogue_ = OHM_SOURCE_DIR "/scenarios/";
  const Words sweep_ = {"sweep",
                        catalogue_ + "missing_no_grad.lua",
                        catalogue_ + "fragmentation.lua",
                        "--size-only",
                        "--points",
                        "all",
                        "--form",
                        "both"};
};

std::unique_ptr<LocalSlurm> SlurmTest::local_slurm;

TEST_F(SlurmTest, WritesTheBytesOfOneMachineWhateverIsKilled) {
  Words alone = sweep_;
  alone.emplace_back("--json");
  const ProgramResult whole = ohm(alone);
  const auto program = start(launched(sweep_, {"--report", "json=array.json"}));
  // A task may end before it is killed.
  program->wait_until([&] {
    if (local_slurm->running_tasks() > 0) {
      local_slurm->output_of("scancel --signal=KILL --full --state=RUNNING --me");
    }
    return contains(program->err(), "ended without a report");
  });
  program->wait_until([&] { return has_report(1) || has_report(2) || has_report(3); });
  local_slurm->kill_node();
  local_slurm->restart_node();
  const ProgramResult array = program->wait();
  EXPECT_EQ(array.code, whole.code) << array.err;
  EXPECT_TRUE(contains(array.err, "ended without a report")) << array.err;
  EXPECT_EQ(test::read_file(file("array.json")), whole.out);
  EXPECT_EQ(test::read_file(file("night/merged.json")), whole.out);
  EXPECT_EQ(ohm({"merge", "night"}).out, whole.out);
  // All is known: nothing is submitted.
  const ProgramResult again = with_slurm(launched(sweep_, {"--json"}));
  EXPECT_EQ(again.out, whole.out);
  EXPECT_EQ(again.err, "");
}

TEST_F(SlurmTest, GoesOnWithoutItsLauncherAndIsFollowedAgain) {
  auto program = start(launched(sweep_));
  program->wait_until([&] { return local_slurm->running_tasks() > 0; });
  program->send(SIGKILL);
  program->wait();
  program = start(launched(sweep_));
  program->wait_until([&] { return has_report(1); });
  program->send(SIGINT);
  const ProgramResult left = program->wait();
  EXPECT_EQ(left.code, 130);
  EXPECT_TRUE(contains(left.err, "the jobs continue")) << left.err;
  EXPECT_FALSE(contains(left.err, "submitted")) << "the shards are in the queue: " << left.err;
  const ProgramResult followed = with_slurm(launched(sweep_, {"--json"}));
  Words alone = sweep_;
  alone.emplace_back("--json");
  EXPECT_EQ(followed.out, ohm(alone).out) << followed.err;
}

TEST_F(SlurmTest, RunsScenariosAndMergesWithoutALauncher) {
  const Words run = {"run", file("good.lua"), OHM_SOURCE_DIR "/scenarios/fragmentation.lua"};
  auto program = start(launched(run));
  program->wait_until([&] { return !local_slurm->output_of("squeue --noheader").empty(); });
  program->wait_until([&] { return contains(test::read_file(file("night/work")), "job/0"); });
  program->wait_until([&] {
    return contains(local_slurm->output_of("squeue --noheader --format=%j"), "ohm-merge");
  });
  program->send(SIGKILL);
  program->wait();
  const ProgramResult merged = [&] {
    // The queue of Slurm's is empty when the last job has merged.
    while (!local_slurm->output_of("squeue --noheader").empty()) ::usleep(100000);
    return ohm({"merge", "night"});
  }();
  Words alone = run;
  alone.emplace_back("--json");
  const ProgramResult whole = ohm(alone);
  EXPECT_EQ(merged.out, whole.out) << merged.err;
  EXPECT_EQ(test::read_file(file("night/merged.json")), whole.out);
  const ProgramResult table = with_slurm(launched(run));
  EXPECT_EQ(table.out, ohm(run).out) << table.err;
}

TEST_F(SlurmTest, SweepsCommands) {
  folder_.write("train.py", test::torch_script(R"(
for step in range(12):
    try:
        torch.empty(8)
        print("step", step)
    except torch.cuda.OutOfMemoryError:
        pass
)"));
  const Words program = {"--", "python3", "train.py"};
  const Words sweep = {"sweep",    "--gpu", "tiny-64m", "--level", "segment",
                       "--points", "all",   "--form",   "both"};
  const ProgramResult whole = ohm(joined(sweep, {"--json"}, program));
  const ProgramResult array =
      with_slurm(joined(launched(sweep), {"--report", "json=array.json"}, program));
  EXPECT_EQ(array.code, whole.code) << array.err;
  EXPECT_EQ(array.out, ohm(joined(sweep, {}, program)).out);
  EXPECT_TRUE(contains(array.out, "recoveries did not print all lines")) << array.out;
  EXPECT_EQ(test::read_file(file("array.json")), whole.out);
  EXPECT_EQ(test::read_file(file("night/merged.json")), whole.out);
}

TEST_F(SlurmTest, SearchesForWhatFitsOfCommands) {
  folder_.write("train.py", test::torch_script("batch = int(sys.argv[1].split('=')[1])\n"
                                               "x = torch.empty(batch << 20)\n"));
  const Words program = {"--", "python3", "train.py", "batch=3"};
  const Words fit = {"fit",      "--vary", "batch=1..100",           "--gpu",
                     "tiny-64m", "--gpu",  "tiny-64m,capacity=32MiB"};
  const ProgramResult array = with_slurm(joined(launched(fit), {}, program));
  EXPECT_EQ(array.out, ohm(joined(fit, {}, program)).out) << array.err;
  const std::string whole = ohm(joined(fit, {"--json"}, program)).out;
  EXPECT_EQ(test::read_file(file("night/merged.json")), whole);
}

TEST_F(SlurmTest, SearchesForWhatFits) {
  const Words fit = {"fit", catalogue_ + "batch_size.lua", "--vary", "batch=4..512", "--gpus",
                     "all"};
  Words alone = fit;
  alone.emplace_back("--json");
  const ProgramResult table = with_slurm(launched(fit, {"--report", "json=array.json"}));
  EXPECT_EQ(table.out, ohm(fit).out) << table.err;
  const std::string whole = ohm(alone).out;
  EXPECT_EQ(test::read_file(file("array.json")), whole);
  EXPECT_EQ(test::read_file(file("night/merged.json")), whole);
}

TEST_F(SlurmTest, SaysWhyAJobIsRefused) {
  const ProgramResult refused =
      with_slurm(launched({"run", file("good.lua")}, {"--slurm-option=--partition=nowhere"}));
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(contains(refused.err, "Slurm refused the job: ")) << refused.err;
  EXPECT_TRUE(contains(refused.err, "nvalid partition")) << refused.err;
}

}  // namespace
}  // namespace ohm
