// --launcher slurm with stand-ins for Slurm's commands, which do what the tests want to see.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/harness/program/program_test.h"
#include "tests/support/golden.h"

namespace ohm {
namespace {

using test::contains;
using test::ProgramResult;
using Words = std::vector<std::string>;

/// Runs the tasks of an array at once, one after the other. `$RUN` is what runs a task's script.
constexpr const char* kSbatch = R"sh(#!/bin/sh
echo "$@" >> "$STAND_IN/submitted"
count=$(wc -l < "$STAND_IN/submitted")
for word in "$@"; do
  case $word in
    --array=*) tasks=${word#--array=} ;;
    --dependency=* | --test-only) echo "$count"; exit 0 ;;
  esac
done
while [ "${1%.sh}" = "$1" ]; do shift; done
for range in $(echo "$tasks" | tr , ' '); do
  for task in $(seq "${range%-*}" "${range#*-}"); do
    SLURM_ARRAY_TASK_ID=$task SLURM_CPUS_ON_NODE=2 sh "$STAND_IN/task" "$@"
  done
done
echo "$count"
)sh";

class Launcher : public test::ProgramTest {
 protected:
  Launcher() {
    ::mkdir(file("bin").c_str(), 0700);
    stand_in("sbatch", kSbatch);
    stand_in("squeue", "#!/bin/sh\n");
    stand_in("scancel", "#!/bin/sh\n");
    stand_in("sacct", "#!/bin/sh\necho '1_1|NODE_FAIL'\n");
    node_does("exec sh \"$@\"");
  }

  void stand_in(const std::string& name, const std::string& script) const {
    ::chmod(folder_.write("bin/" + name, script).c_str(), 0700);
  }
  /// What becomes of a task: its script and the arguments are in $@, its number in
  /// $SLURM_ARRAY_TASK_ID.
  void node_does(const std::string& shell) const { folder_.write("bin/task", shell + "\n"); }

  ProgramResult launched(Words command, const std::string& shards = "3",
                         const Words& more = {}) const {
    for (const std::string& word :
         {std::string("--launcher"), std::string("slurm"), std::string("--shards"), shards,
          std::string("--resume"), std::string("night")})
      command.push_back(word);
    command.insert(command.end(), more.begin(), more.end());
    return test::run_program(folder_.path().string(), command, [&] {
      ::setenv("STAND_IN", file("bin").c_str(), 1);
      ::setenv("PATH", (file("bin") + ":" + std::getenv("PATH")).c_str(), 1);
    });
  }
  std::string submitted() const { return test::read_file(file("bin/submitted")); }
  /// The error, of a command that ends with this code.
  std::string error_of(int code, const Words& command, const Words& more = {}) const {
    const ProgramResult result = launched(command, "3", more);
    EXPECT_EQ(result.code, code) << result.err;
    return result.err;
  }

  const Words sweep_ = {"sweep", "good.lua", test::golden_path("sweep/errors.lua")};
  const Words run_ = {"run", "good.lua"};
};

TEST_F(Launcher, PrintsAndWritesWhatOneMachineDoes) {
  for (const Words& command : {sweep_, run_}) {
    const ProgramResult alone = [&] {
      Words words = command;
      words.insert(words.end(), {"--report", "json=alone.json", "--report", "html=alone.html"});
      return ohm(words);
    }();
    for (const char* const shards : {"1", "7", "40"}) {
      std::filesystem::remove_all(file("night"));
      const ProgramResult array =
          launched(command, shards, {"--report", "json=array.json", "--report=html=array.html"});
      EXPECT_EQ(array.code, alone.code) << array.err;
      EXPECT_EQ(array.out, alone.out);
      EXPECT_EQ(test::read_file(file("array.json")), test::read_file(file("alone.json")));
      EXPECT_EQ(test::read_file(file("array.html")), test::read_file(file("alone.html")));
    }
  }
}

TEST_F(Launcher, GivesSlurmItsOptionsAndAMergeThatWaits) {
  launched(run_, "3", {"--slurm-option=--partition=x", "--slurm-option", "--time=5"});
  EXPECT_TRUE(contains(submitted(), "--partition=x --time=5 --array=1-3 ")) << submitted();
  EXPECT_TRUE(contains(submitted(), "--dependency=afterany:1 --partition=x --time=5"))
      << submitted();
}

TEST_F(Launcher, SubmitsShardsOfThousandsInArraysThatSlurmTakes) {
  node_does(
      "touch \"$STAND_IN/../night/reports/$(printf %05d $((SLURM_ARRAY_TASK_ID + $2))).json\"");
  const ProgramResult result = launched(run_, "1100");
  EXPECT_TRUE(contains(submitted(), "--array=1-1000 ")) << submitted();
  EXPECT_TRUE(contains(submitted(), "--array=1-100 ")) << submitted();
  EXPECT_TRUE(contains(submitted(), "shard.sh 1000\n")) << submitted();
  // What these tasks wrote is not a report.
  EXPECT_EQ(result.code, 2);
  EXPECT_TRUE(contains(result.err, "reports/00001.json: not a JSON report")) << result.err;
}

TEST_F(Launcher, SubmitsAgainWhatEndedWithoutAReport) {
  node_does(
      "test $SLURM_ARRAY_TASK_ID = 2 && ! test -e \"$STAND_IN/once\" && "
      "touch \"$STAND_IN/once\" && exit 1\nexec sh \"$@\"");
  const ProgramResult result = launched(run_);
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(contains(result.err, "shard 2 ended without a report (NODE_FAIL): submitted again"))
      << result.err;
  EXPECT_TRUE(contains(submitted(), "--array=2 ")) << submitted();
}

TEST_F(Launcher, GivesUpAfterThreeTasksAndGoesOnLater) {
  node_does("test $SLURM_ARRAY_TASK_ID != 2 && exec sh \"$@\"");
  const std::string error = error_of(6, run_);
  EXPECT_TRUE(
      contains(error, "shard 2/3 ended 3 times without a report, the last time as NODE_FAIL; "))
      << error;
  EXPECT_TRUE(
      contains(error, "is empty: do the nodes share this folder, and can they write to it?"));
  node_does("exec sh \"$@\"");
  const ProgramResult later = launched(run_);
  EXPECT_EQ(later.code, 0) << later.err;
  EXPECT_EQ(later.out, ohm(run_).out);
  EXPECT_FALSE(contains(later.err, "submitted again"));
}

TEST_F(Launcher, GivesEachTypeOfCardsAnArrayAndALookBefore) {
  // Tasks that come to nothing.
  node_does("true");
  const std::string error = error_of(6, {"run", "good.lua", "--gpu", "cuda"},
                                     {"--card-types", "a100,h100", "--slurm-option=--time=5"});
  EXPECT_TRUE(contains(error, "shard 1/3 on a100 ended 3 times without a report")) << error;
  EXPECT_TRUE(contains(error, "shard 3 on h100 ended without a report")) << error;
  const std::string first = submitted().substr(0, submitted().find("--dependency"));
  EXPECT_TRUE(contains(first,
                       "--test-only --job-name=ohm --output=/dev/null --time=5 "
                       "--gres=gpu:a100:1 "))
      << first;
  for (const char* const type : {"a100", "h100"}) {
    const std::string gres = std::string("--gres=gpu:") + type + ":1";
    const std::size_t tested = first.find(gres);
    const std::size_t array = first.find(gres + " --array=1-3 ");
    EXPECT_LT(tested, array) << first;
    EXPECT_NE(array, std::string::npos) << first;
  }
  EXPECT_TRUE(contains(submitted(), "--dependency=afterany:3:4 --time=5 ")) << submitted();
  EXPECT_TRUE(contains(submitted(), "shard.sh 0 h100/\n")) << submitted();
}

TEST_F(Launcher, SaysThatSlurmIsNotThereOrDoesNotAnswer) {
  stand_in("squeue", "#!/bin/sh\necho 'slurm_load_jobs error: Unable to contact' >&2; exit 1\n");
  EXPECT_TRUE(contains(error_of(6, run_), "squeue does not answer: slurm_load_jobs error"));
  stand_in("squeue", "#!/bin/sh\n");
  stand_in("sbatch", "#!/bin/sh\nexit 127\n");
  EXPECT_TRUE(contains(error_of(6, run_), "sbatch was not found"));
  stand_in("sbatch",
           "#!/bin/sh\necho 'Batch job submission failed: no such account' >&2; exit 1\n");
  EXPECT_TRUE(contains(error_of(2, run_),
                       "Slurm refused the job: Batch job submission failed: no such account"));
}

TEST_F(Launcher, SaysThatANodeHasAnotherVersion) {
  // What a node with another build finds: a beginning that is not its own.
  node_does(
      "sed -i 's/^[0-9a-f]* .\"program\".*/0000000000000000 []/' "
      "\"$STAND_IN/../night/known/00002\"; exec sh \"$@\"");
  const std::string error = error_of(2, run_);
  EXPECT_TRUE(contains(error, "shard 2/3 cannot be done: ")) << error;
  EXPECT_TRUE(contains(error, "known/00002: of other work, or damaged in its first lines"))
      << error;
}

TEST_F(Launcher, SaysThatAScenarioWasEditedOnTheWay) {
  node_does("test $SLURM_ARRAY_TASK_ID = 2 && echo >> good.lua; exec sh \"$@\"");
  const std::string error = error_of(2, run_);
  EXPECT_TRUE(contains(error, "good.lua was edited since it was written")) << error;
  EXPECT_TRUE(contains(error_of(2, run_), "night/work: good.lua was edited since"));
}

TEST_F(Launcher, SaysThatADiskIsFull) {
  node_does("test $SLURM_ARRAY_TASK_ID = 2 && ulimit -f 2; exec sh \"$@\"");
  const std::string error = error_of(2, sweep_);
  EXPECT_TRUE(contains(error, "shard 2/3 cannot be done: ")) << error;
  EXPECT_TRUE(contains(error, "cannot write ")) << error;
  node_does("exec sh \"$@\"");
  EXPECT_EQ(launched(sweep_).out, ohm(sweep_).out);
}

/// A terminal that the test types into.
class Terminal {
 public:
  Terminal() : descriptor_(::posix_openpt(O_RDWR | O_NOCTTY)) {
    if (::grantpt(descriptor_) != 0 || ::unlockpt(descriptor_) != 0) {
      throw std::runtime_error("there are no terminals here");
    }
    name_ = ::ptsname(descriptor_);
    ::fcntl(descriptor_, F_SETFL, O_NONBLOCK);
  }
  ~Terminal() { ::close(descriptor_); }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  /// In the new process: it is what there is to read from, and where errors are shown.
  void become_standard() const {
    const int end = ::open(name_.c_str(), O_RDWR | O_NOCTTY);
    ::dup2(end, STDIN_FILENO);
    ::dup2(end, STDERR_FILENO);
  }
  bool shows(const std::string& text) {
    char bytes[4096];
    const ssize_t count = ::read(descriptor_, bytes, sizeof bytes);
    if (count > 0) shown_.append(bytes, static_cast<std::size_t>(count));
    return contains(shown_, text);
  }
  void type(const std::string& text) const {
    if (::write(descriptor_, text.data(), text.size()) < 0) throw std::runtime_error("cannot type");
  }

 private:
  int descriptor_;
  std::string name_;
  std::string shown_;
};

TEST_F(Launcher, AsksAtATerminalWhetherTheJobsStay) {
  stand_in("squeue", "#!/bin/sh\nfor task in 1 2 3; do echo \"1|$task|RUNNING\"; done\n");
  stand_in("scancel", "#!/bin/sh\necho \"$@\" >> \"$STAND_IN/cancelled\"\n");
  node_does("true");
  for (const bool is_cancelled : {false, true}) {
    Terminal terminal;
    test::Program program(folder_.path().string(),
                          {"run", "good.lua", "--launcher", "slurm", "--shards", "3", "--resume",
                           is_cancelled ? "night" : "evening"},
                          [&] {
                            terminal.become_standard();
                            ::setenv("STAND_IN", file("bin").c_str(), 1);
                            ::setenv("PATH", (file("bin") + ":" + std::getenv("PATH")).c_str(), 1);
                            ::unlink(file("bin/submitted").c_str());
                          });
    program.wait_until([&] { return terminal.shows("0 of 3 shards, 3 running, 0 waiting"); });
    program.send(SIGINT);
    program.wait_until([&] { return terminal.shows("cancel Slurm's jobs 1, 2?"); });
    terminal.type(is_cancelled ? "y\n" : "\n");
    program.wait_until([&] { return terminal.shows("no such text"); });
    EXPECT_EQ(program.wait().code, 130);
    EXPECT_EQ(test::read_file(file("bin/cancelled")), is_cancelled ? "1 2\n" : "");
  }
}

TEST_F(Launcher, RefusesWhatMakesNoSense) {
  folder_.write("a file", "");
  const auto refused = [&](const Words& options) {
    Words words = run_;
    words.insert(words.end(), options.begin(), options.end());
    const ProgramResult result = ohm(words);
    EXPECT_EQ(result.code, 2);
    return result.err;
  };
  EXPECT_TRUE(contains(refused({"--launcher", "pbs"}), "must be slurm, not \"pbs\""));
  EXPECT_TRUE(contains(refused({"--launcher", "slurm"}), "name a folder that the nodes share"));
  EXPECT_TRUE(contains(refused({"--launcher", "slurm", "--resume", "n"}), "--shards 64"));
  EXPECT_TRUE(contains(refused({"--shards", "2"}), "--shards: requires --launcher slurm"));
  EXPECT_TRUE(
      contains(refused({"--launcher", "slurm", "--resume", "n", "--shards", "2", "--shard", "1/2"}),
               "--shard: the launcher creates the shards itself"));
  EXPECT_TRUE(contains(refused({"--launcher", "slurm", "--resume", "a file/n", "--shards", "2"}),
                       "cannot make the folder a file/n: Not a directory"));
}

}  // namespace
}  // namespace ohm
