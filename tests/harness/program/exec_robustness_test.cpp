// ohm exec, record and sweep where programs and machines are not as they would be: full disks,
// other users, closed descriptors, signals, folders that are gone.
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/harness/program/program_test.h"
#include "tests/harness/program/torch_script.h"

namespace ohm {
namespace {

using Json = nlohmann::json;
using test::ProgramResult;
using test::torch_script;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kUsesGpu = "x = torch.empty(2 << 20)\nimport os, signal\n";

class ExecRobustness : public test::ProgramTest {
 protected:
  ExecRobustness() { ::setenv("PYTHONDONTWRITEBYTECODE", "1", 1); }

  /// Of a program that ends so, once it has used a GPU.
  Json report_of(const std::string& end, int code = 0) {
    folder_.write("job.py", torch_script(kUsesGpu + end));
    const ProgramResult ran =
        ohm({"exec", "--gpu", "tiny-64m", "--report", "json=out.json", "--", "python3", "job.py"});
    EXPECT_EQ(code, ran.code) << ran.err;
    return Json::parse(test::read_file(file("out.json")));
  }
  void expect_recorded(const Json& report) {
    const Json& scenario = report["scenarios"].at(0);
    ASSERT_FALSE(scenario.contains("error")) << scenario["error"];
    EXPECT_EQ(2 << 20, scenario["variants"].at(0)["devices"].at(0)["peak_allocated_bytes"]);
  }
};

TEST_F(ExecRobustness, SkipsFoldersOfThePathThatCannotBeSearched) {
  std::filesystem::create_symlink("loop", file("loop"));
  const auto in_path = [this](const std::vector<std::string>& arguments) {
    return test::run_program(folder_.path().string(), arguments, [this] {
      const std::string path = file("loop") + ":" + file("good.lua") + ":" + std::getenv("PATH");
      ::setenv("PATH", path.c_str(), 1);
    });
  };
  EXPECT_EQ(0, in_path({"exec", "--", "true"}).code);
  EXPECT_EQ(0, in_path({"record", "--", "true"}).code);
  const ProgramResult none = in_path({"exec", "--", "no-such-command"});
  EXPECT_EQ(2, none.code);
  EXPECT_THAT(none.err, HasSubstr("command not found"));
  EXPECT_THAT(in_path({"exec", "--", "./loop"}).err, HasSubstr("cannot be started"));
}

TEST_F(ExecRobustness, RecordsAProgramThatChangesItself) {
  expect_recorded(report_of("os.closerange(3, 4096)\n"));
  expect_recorded(report_of("os.environ.clear()\n"));
  expect_recorded(report_of("os.kill(os.getpid(), signal.SIGTERM)\n", 128 + SIGTERM));
  expect_recorded(report_of("os.chdir('/')\n"));
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give up privileges and change its root";
  expect_recorded(report_of("os.setgid(65534); os.setuid(65534)\n"));
  expect_recorded(report_of("os.chroot('/proc')\n"));
  expect_recorded(report_of("os.chroot('/proc'); os.setgid(65534); os.setuid(65534)\n"));
}

TEST_F(ExecRobustness, SaysThatARecordCannotBeWritten) {
  const std::string limits_itself =
      "import os, resource\n"
      "resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\n"
      "os.dup2(os.open('/dev/null', os.O_WRONLY), 2)\n";
  folder_.write("host.py", limits_itself);
  folder_.write("device.py", torch_script(kUsesGpu + limits_itself));
  for (const std::string memory : {"host", "device"}) {
    const ProgramResult ran =
        ohm({"exec", "--record", memory, "--memory", memory, "--", "python3", memory + ".py"});
    EXPECT_EQ(2, ran.code) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr("cannot be written: File too large"));
  }
}

TEST_F(ExecRobustness, TellsAProcessThatStillRunsFromOneThatWasKilled) {
  folder_.write("daemon.py", torch_script(R"(import os, signal
if os.fork() == 0:
    x = torch.empty(2 << 20)
    os.setsid()
    print(os.getpid(), file=open("pid", "w"))
    os.rename("pid", "started")
    signal.pause()
while not os.path.exists("started"): pass
os._exit(0)
)"));
  const ProgramResult ran =
      ohm({"exec", "--gpu", "tiny-64m", "--report", "json=out.json", "--", "python3", "daemon.py"});
  int process = 0;
  std::ifstream(file("started")) >> process;
  EXPECT_THAT(ran.err, HasSubstr("still runs"));
  EXPECT_THAT(ran.err, Not(HasSubstr("ended before it could write")));
  ASSERT_GT(process, 1);
  ::kill(process, SIGKILL);
}

TEST_F(ExecRobustness, KeepsOtherLibrariesThatArePreloaded) {
  const auto preloaded = [this](const std::string& libraries,
                                const std::vector<std::string>& arguments) {
    return test::run_program(folder_.path().string(), arguments,
                             [&] { ::setenv("LD_PRELOAD", libraries.c_str(), 1); });
  };
  const ProgramResult ran =
      preloaded(OHM_FAILING_MALLOC, {"exec", "--", "sh", "-c", "echo $LD_PRELOAD"});
  EXPECT_EQ(0, ran.code) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr(std::string(OHM_FAILING_MALLOC) + ":"));
  EXPECT_THAT(ran.out, HasSubstr("libohm_preload.so"));
  const ProgramResult host = preloaded("", {"exec", "--memory", "host", "--", test::program_path(),
                                            "exec", "--memory", "host", "--", "true"});
  EXPECT_EQ(0, host.code) << host.err;
}

TEST_F(ExecRobustness, NamesAPreloadedOperatorNewThatItCannotSee) {
  const std::filesystem::path library = OHM_OWN_OPERATOR_NEW;
  const auto preloading = [&](const std::string& name) {
    return test::run_program(folder_.path().string(), {"exec", "--memory", "host", "--", "true"},
                             [&] {
                               ::setenv("LD_LIBRARY_PATH", library.parent_path().c_str(), 1);
                               ::setenv("LD_PRELOAD", name.c_str(), 1);
                             });
  };
  for (const std::string& name : {library.string(), library.filename().string()}) {
    const ProgramResult ran = preloading(name);
    EXPECT_EQ(0, ran.code) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr(name + " has an operator new of its own"));
  }
  const ProgramResult seen = preloading(OHM_FAILING_MALLOC);
  EXPECT_EQ(0, seen.code) << seen.err;
  EXPECT_THAT(seen.err, Not(HasSubstr("operator new")));
}

TEST_F(ExecRobustness, MayBeNested) {
  folder_.write("job.py", torch_script(kUsesGpu));
  const ProgramResult ran = ohm({"exec", "--", test::program_path(), "exec", "--gpu", "tiny-64m",
                                 "--report", "json=out.json", "--", "python3", "job.py"});
  EXPECT_EQ(0, ran.code) << ran.err;
  expect_recorded(Json::parse(test::read_file(file("out.json"))));
}

TEST_F(ExecRobustness, TheHostsPreloadTakesNothingThatAProgramNeeds) {
  const auto limited = [this](const std::string& limit) {
    return ohm({"exec", "--memory", "host", "--report", "json=out.json", "--", "sh", "-c",
                limit + "; exec " OHM_HOST_CLIENT " keep"});
  };
  const ProgramResult no_files = limited("ulimit -f 0");
  EXPECT_EQ(0, no_files.code - 2) << no_files.err;  // it runs, and the lost record is told
  EXPECT_THAT(no_files.err, HasSubstr("cannot be written: File too large"));
  const ProgramResult soft = limited("ulimit -S -f 0");
  EXPECT_EQ(0, soft.code) << soft.err;
  const ProgramResult little_space = limited("ulimit -v 30000");
  EXPECT_EQ(0, little_space.code) << little_space.err;
  const Json report = Json::parse(test::read_file(file("out.json")));
  EXPECT_EQ(10 << 20,
            report["scenarios"].at(0)["variants"].at(0)["host"]["peak"]["holders"].at(0)["bytes"]);
}

TEST_F(ExecRobustness, RecordsAHostProcessThatEndsBySignalOrClosesEverything) {
  const auto recorded = [this](const std::string& script) {
    folder_.write("job.py", script);
    ohm({"exec", "--memory", "host", "--report", "json=out.json", "--", "python3", "job.py"});
    const Json scenario = Json::parse(test::read_file(file("out.json")))["scenarios"].at(0);
    return !scenario.contains("error");
  };
  EXPECT_TRUE(recorded("import os, signal; os.kill(os.getpid(), signal.SIGTERM)\n"));
  EXPECT_TRUE(recorded("import os; os.closerange(3, 5000)\n"));
  EXPECT_TRUE(
      recorded("import os\nfor i in range(3, 1100):\n  try: os.close(i)\n"
               "  except OSError: pass\n"));
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give up privileges and change its root";
  EXPECT_TRUE(
      recorded("import os; os.closerange(3, 5000); os.chroot('/proc'); os.setuid(65534)\n"));
}

TEST_F(ExecRobustness, RefusesLimitsThatMeanNothing) {
  const auto says = [this](const std::vector<std::string>& arguments, const std::string& what) {
    const ProgramResult ran = ohm(arguments);
    EXPECT_EQ(2, ran.code) << what;
    EXPECT_THAT(ran.err, HasSubstr(what));
  };
  says({"exec", "--host-limit", "0", "--", "true"}, "--host-limit: 0 bytes");
  says({"exec", "--gate", "peak_allocated_bytes < 9999999999999999999999 GiB", "--", "true"},
       "more than any measurement can be");
  says({"exec", "--gate", "num_ooms < 1e30", "--", "true"}, "more than any measurement can be");
  says({"run", "good.lua", "--snapshot", "newfolder/"}, "there is no folder newfolder");
  says({"run", "good.lua", "--snapshot", "new/{variant}.pickle"}, "there is no folder new");
}

TEST_F(ExecRobustness, SaysThatItsFolderIsGone) {
  for (const char* const command : {"sweep", "exec"}) {
    const std::string gone = file("gone");
    std::filesystem::create_directories(gone);
    const ProgramResult ran = test::run_program(folder_.path().string(), {}, [&] {
      if (::chdir(gone.c_str()) != 0 || ::rmdir(gone.c_str()) != 0) return;
      const std::string program = test::program_path();
      ::execl(program.c_str(), program.c_str(), command, "--memory", "host", "--", "true", nullptr);
    });
    const bool is_sweep = std::string(command) == "sweep";
    EXPECT_EQ(is_sweep ? 2 : 0, ran.code) << ran.err;
    EXPECT_EQ(is_sweep, test::contains(ran.err, "the current folder is not there any more"));
  }
}

TEST_F(ExecRobustness, LeavesNoFolderBehindWhenItIsKilled) {
  const std::string temporary = file("tmp");
  std::filesystem::create_directories(temporary);
  ::mkfifo(file("wait").c_str(), 0600);
  const auto in_folder = [&] { ::setenv("TMPDIR", temporary.c_str(), 1); };
  test::Program program(folder_.path().string(),
                        {"exec", "--", "sh", "-c", "echo > started; read nothing < wait"},
                        in_folder);
  while (!std::filesystem::exists(file("started"))) {
  }
  program.send(SIGKILL);
  program.wait();
  // At the latest when another one is started.
  EXPECT_EQ(0, test::run_program(folder_.path().string(), {"exec", "--", "true"}, in_folder).code);
  EXPECT_TRUE(std::filesystem::is_empty(temporary));
  const std::ofstream release(file("wait"));
}

}  // namespace
}  // namespace ohm
