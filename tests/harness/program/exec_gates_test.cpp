// Gates of commands through the real program: what they compare, and whose lines they name. PyTorch
// is stood in for by tests/harness/support/stand_in_torch, on the virtual GPU.
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/harness/program/program_test.h"
#include "tests/harness/program/torch_script.h"

namespace ohm {
namespace {

using Json = nlohmann::json;
using test::ProgramResult;
using test::torch_script;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class ExecGates : public test::ProgramTest {
 protected:
  ExecGates() {
    ::setenv("PYTHONDONTWRITEBYTECODE", "1", 1);
    std::filesystem::create_directories(file(".git"));
    std::filesystem::create_directories(file(".venv/lib/python3.11/site-packages"));
    std::filesystem::create_directories(file("jobs"));
    folder_.write(".venv/lib/python3.11/site-packages/cache.py",
                  "import torch\ndef hold(count):\n"
                  "  return [torch.empty(2 << 20) for _ in range(count)]\n");
    write_job(4);
    exec({"--report", "json=memory.json"});
  }

  /// It holds so many blocks of 2 MiB, which a library makes.
  void write_job(int blocks) {
    folder_.write("jobs/train.py",
                  torch_script("sys.path.append('.venv/lib/python3.11/site-packages')\n"
                               "import cache\n"
                               "kept = cache.hold(" +
                               std::to_string(blocks) + ")\n"));
  }

  ProgramResult exec(std::vector<std::string> options) {
    options.insert(options.begin(), {"exec", "--gpu", "tiny-64m"});
    options.insert(options.end(), {"--", "python3", "jobs/train.py"});
    return test::run_program(folder_.path().string(), options, [this] {
      ::setenv("GITHUB_ACTIONS", "true", 1);
      ::setenv("GITHUB_WORKSPACE", folder_.path().c_str(), 1);
    });
  }
};

TEST_F(ExecGates, ABaselineNamesTheUsersLineWhereALibraryAllocatesMore) {
  write_job(6);
  const ProgramResult ran =
      exec({"--baseline", "memory.json", "--report", "codequality=quality.json", "--report",
            "junit=out.xml", "--report", "markdown=comment.md"});
  EXPECT_EQ(1, ran.code);
  EXPECT_THAT(test::on_one_line(ran.err), HasSubstr("peak_allocated_bytes +4.00 MiB (+50.0 %)"));
  EXPECT_THAT(ran.err, HasSubstr("+4.00 MiB (8.00 MiB before, 12.00 MiB now)  jobs/train.py:5"));
  EXPECT_THAT(ran.err, HasSubstr("::error file=jobs/train.py,line=5,"));
  const Json issues = Json::parse(test::read_file(file("quality.json")));
  ASSERT_EQ(1, issues.size());
  EXPECT_EQ("jobs/train.py", issues.at(0)["location"]["path"]);
  EXPECT_EQ(5, issues.at(0)["location"]["lines"]["begin"]);
  EXPECT_EQ("ohm.BaselineRegression", issues.at(0)["check_name"]);
  EXPECT_THAT(test::read_file(file("out.xml")), HasSubstr("file=\"jobs/train.py\" line=\"5\""));
  EXPECT_THAT(test::read_file(file("comment.md")),
              HasSubstr("| `jobs/train.py:5` | empty | 12.00 MiB | 8.00 MiB | +4.00 MiB |"));
}

TEST_F(ExecGates, ALimitNamesWhatWasAlive) {
  const ProgramResult ran = exec({"--gate", "peak_allocated_bytes < 1 MiB"});
  EXPECT_EQ(1, ran.code);
  EXPECT_THAT(ran.err, HasSubstr("alive at the peak of cuda:0: 8.00 MiB, made by\n"
                                 "        8.00 MiB  jobs/train.py:5"));
  EXPECT_THAT(ran.err, HasSubstr("::error file=jobs/train.py,line=5,"));
}

TEST_F(ExecGates, ABaselineComparesWhatIsMeasuredWithinATolerance) {
  write_job(5);
  EXPECT_EQ(1, exec({"--baseline", "memory.json"}).code);
  EXPECT_EQ(0, exec({"--baseline", "memory.json", "--tolerance", "25"}).code);
  EXPECT_EQ(1, exec({"--baseline", "memory.json", "--tolerance", "24"}).code);
  EXPECT_EQ(0, exec({"--baseline", "memory.json", "--measure", "num_ooms"}).code);
  const ProgramResult wrong = exec({"--baseline", "memory.json", "--measure", "peak"});
  EXPECT_EQ(2, wrong.code);
  EXPECT_THAT(wrong.err, HasSubstr("--measure peak: is none of steps, growth_bytes_per_step"));
  EXPECT_EQ(2, exec({"--tolerance", "5"}).code);
  EXPECT_EQ(2, exec({"--baseline", "memory.json", "--tolerance", "inf"}).code);
}

TEST_F(ExecGates, HowTheAllocatorCameByItsMemoryIsShownAlone) {
  folder_.write("jobs/train.py", torch_script("kept = [torch.empty(2 << 20) for _ in range(3)]\n"
                                              "for _ in range(9): torch.empty(2 << 20)\n"));
  const ProgramResult ran = exec({"--baseline", "memory.json"});
  EXPECT_EQ(0, ran.code) << ran.err;
}

TEST_F(ExecGates, AnotherLimitIsToldAndFailsNothing) {
  exec({"--gate", "peak_allocated_bytes < 200 MiB", "--report", "json=memory.json"});
  const ProgramResult none = exec({"--baseline", "memory.json"});
  EXPECT_EQ(0, none.code) << none.err;
  EXPECT_THAT(test::on_one_line(none.err),
              HasSubstr("the limits changed: they were \"peak_allocated_bytes < 200 MiB\" when the "
                        "baseline was"));
  const ProgramResult same =
      exec({"--gate", "peak_allocated_bytes < 200 MiB", "--baseline", "memory.json"});
  EXPECT_EQ(0, same.code) << same.err;
  EXPECT_THAT(same.err, Not(HasSubstr("the limits changed")));
}

TEST_F(ExecGates, AReportIsABaselineAsItIs) {
  const ProgramResult ran = ohm({"baseline", "update", "memory.json"});
  EXPECT_EQ(2, ran.code);
  EXPECT_THAT(ran.err, HasSubstr("to update it, run: ohm exec --gpu tiny-64m --report "
                                 "json=memory.json -- python3 jobs/train.py"));
  ohm({"run", "good.lua", "--report", "json=run.json"});
  EXPECT_THAT(ohm({"baseline", "update", "run.json"}).err,
              HasSubstr("name the scenario: ohm baseline update good.lua"));
}

TEST_F(ExecGates, AScenarioThatHasChangedIsToldFromAProgramThatHas) {
  ::unsetenv("CI");
  EXPECT_EQ(0, ohm({"baseline", "update", "good.lua"}).code);
  const std::string text = test::read_file(file("good.lua"));
  std::string larger = text;
  larger.replace(larger.find("128"), 3, "999");
  folder_.write("good.lua", larger);
  const ProgramResult ran = ohm({"run", "good.lua"});
  EXPECT_EQ(1, ran.code);
  EXPECT_THAT(test::on_one_line(ran.out),
              HasSubstr("good.lua has changed since its baseline was made"));
  EXPECT_THAT(test::on_one_line(ran.out), HasSubstr("ohm baseline update good.lua"));
  EXPECT_THAT(ohm({"baseline", "check", "good.lua"}).out,
              HasSubstr("good.lua has changed since its baseline was made"));
  folder_.write("good.lua", text + "\n-- the same\n");
  EXPECT_EQ(0, ohm({"run", "good.lua"}).code);
}

TEST_F(ExecGates, AScenariosOtherLimitIsNoOtherFigure) {
  ::unsetenv("CI");
  ohm({"baseline", "update", "good.lua"});
  std::string text = test::read_file(file("good.lua"));
  text.replace(text.find("\"growth_bytes_per_step == 0\""), 28, "\"growth_bytes_per_step <= 0\"");
  folder_.write("good.lua", text);
  const ProgramResult ran = ohm({"run", "good.lua"});
  EXPECT_EQ(1, ran.code);
  EXPECT_THAT(test::on_one_line(ran.out),
              AllOf(HasSubstr("the limits changed: they were \"growth_bytes_per_step == 0\""),
                    HasSubstr("the figures are as they were")));
}

}  // namespace
}  // namespace ohm
