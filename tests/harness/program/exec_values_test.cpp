// What ohm says of programs whose figures depend on values that no kernel computed. PyTorch is
// stood in for by tests/harness/support/stand_in_torch; programs tell the recorder what they read.
#include <gmock/gmock.h>

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

constexpr const char* kReads = R"([
    {"kind": "branch", "file": os.path.abspath("train.py"), "line": 14, "detail": "", "count": 2,
     "order": 8},
    {"kind": "shape", "file": os.path.abspath("train.py"), "line": 9,
     "detail": "0 of 16,777,216 rows selected", "count": 1, "order": 3}])";

constexpr const char* kShapeLine =
    "shape at train.py:9 depends on values that were not computed (0 of 16,777,216 rows "
    "selected)\n";
constexpr const char* kBranchLine =
    "branch at train.py:14 depends on values that were not computed\n";

/// A program whose summary has these reads.
std::string reading_script(const std::string& reads, const std::string& body) {
  return torch_script("import os\nreads = " + reads + R"(
recorder = sys.modules.get("ohm_recorder")
if recorder is not None:
    printable = recorder.printable
    def with_reads(value):
        if isinstance(value, dict) and "pid" in value:
            value["unknown_values"] = reads
        return printable(value)
    recorder.printable = with_reads
)" + body);
}

class ExecValues : public test::ProgramTest {
 protected:
  ExecValues() {
    ::setenv("PYTHONDONTWRITEBYTECODE", "1", 1);  // nothing into the tree of the sources
    folder_.write("train.py", reading_script(kReads, R"(
x = torch.empty(4 << 20)
print(os.environ.get("OHM_VALUES"), os.environ.get("OHM_ASSUME_SELECTED"))
)"));
  }

  ProgramResult exec(std::vector<std::string> options, const std::string& program = "train.py") {
    options.insert(options.begin(), {"exec", "--gpu", "tiny-64m"});
    options.insert(options.end(), {"--", "python3", program});
    return ohm(options);
  }
  Json variant() const {
    const Json result = Json::parse(test::read_file(file("result.json")));
    return result["scenarios"].at(0)["variants"].at(0);
  }
};

TEST_F(ExecValues, TheLinesEndWhatIsPrinted) {
  for (const std::vector<std::string>& options :
       {std::vector<std::string>{}, std::vector<std::string>{"--quiet"}}) {
    const ProgramResult ran = exec(options);
    EXPECT_EQ(0, ran.code) << "the program's own";
    EXPECT_EQ(std::string("\n  ") + kShapeLine + "  " + kBranchLine +
                  "  --values cpu computes them; --assume-selected states how many rows a mask "
                  "selects\n",
              ran.err);
  }
  EXPECT_EQ("", exec({"--quiet", "--allow-unknown-values"}).err);
}

TEST_F(ExecValues, TheLastReadBeforeAnErrorComesFirst) {
  folder_.write("fails.py", reading_script(kReads, "x = torch.empty(4 << 20)\n[].pop()\n"));
  const ProgramResult ran = exec({}, "fails.py");
  EXPECT_EQ(1, ran.code);
  EXPECT_THAT(
      ran.err,
      HasSubstr(std::string("\n  the last value read before the error was not computed: branch at "
                            "train.py:14\n  ") +
                kShapeLine));
}

TEST_F(ExecValues, GatesDoNotJudgeSuchFigures) {
  const std::vector<std::string> gate = {"--gate", "peak_allocated_bytes < 1 GiB"};
  const ProgramResult refused = exec(gate);
  EXPECT_EQ(3, refused.code);
  EXPECT_THAT(test::on_one_line(refused.err),
              AllOf(HasSubstr("not judged: shape at train.py:9"),
                    HasSubstr("--allow-unknown-values judges the figures anyway")));
  std::vector<std::string> allowed = gate;
  allowed.emplace_back("--allow-unknown-values");
  EXPECT_EQ(0, exec(allowed).code);
}

TEST_F(ExecValues, BaselinesOfSuchFiguresAreRefused) {
  EXPECT_EQ(0, exec({"--report", "json=result.json"}).code) << "nothing is judged";
  const ProgramResult refused = exec({"--baseline", "result.json"});
  EXPECT_EQ(3, refused.code);
  EXPECT_EQ("", refused.out) << "before the program starts";
  EXPECT_THAT(test::on_one_line(refused.err),
              HasSubstr("result.json: cannot be a baseline: shape at train.py:9"));
  EXPECT_EQ(0, exec({"--baseline", "result.json", "--allow-unknown-values"}).code);
}

TEST_F(ExecValues, ReportsHaveThem) {
  exec({"--report", "json=result.json"});
  const Json read = variant()["unknown_values"].at(1);
  EXPECT_EQ("shape", read["kind"]);
  EXPECT_EQ("train.py", read["file"]);
  const ProgramResult shown = ohm({"report", "result.json"});
  EXPECT_THAT(shown.out, AllOf(HasSubstr("values not computed\n"), HasSubstr(kBranchLine)));
  EXPECT_THAT(test::on_one_line(ohm({"why", "result.json"}).out),
              HasSubstr("The figures may be those of another path: shape at train.py:9"));
}

TEST_F(ExecValues, OptionsReachTheProgramAndTheCommandThatRepeatsIt) {
  EXPECT_EQ("None None\n", exec({}).out);
  const ProgramResult ran = exec({"--values", "cpu", "--assume-selected", "0.25",
                                  "--allow-unknown-values", "--report", "json=result.json"});
  EXPECT_EQ("cpu 0.25\n", ran.out);
  EXPECT_THAT(variant()["rerun"].get<std::string>(),
              AllOf(HasSubstr(" --assume-selected 0.25 --values cpu"),
                    HasSubstr(" --allow-unknown-values")));
  EXPECT_TRUE(variant()["devices"].at(0)["values"].get<bool>());
  EXPECT_THAT(ran.err, Not(HasSubstr("--values cpu computes them")));
}

TEST_F(ExecValues, OperatorsThatTheCpuDidNotComputeAreNamedAtTheEnd) {
  folder_.write("leaves_out.py", torch_script(R"(
recorder = sys.modules.get("ohm_recorder")
if recorder is not None:
    recorder.not_computed = {"poisson": 2}.copy
x = torch.empty(4 << 20)
)"));
  EXPECT_EQ("  not computed on the CPU: poisson (2 calls)\n",
            exec({"--values", "cpu"}, "leaves_out.py").err);
}

TEST_F(ExecValues, OptionsAreChecked) {
  EXPECT_EQ(2, exec({"--values", "gpu"}).code);
  EXPECT_EQ(2, exec({"--assume-selected", "2"}).code);
  EXPECT_THAT(exec({"--assume-selected", "half"}).err,
              HasSubstr("must be from 0 to 1, or max, not \"half\""));
  EXPECT_EQ(2, exec({"--memory", "host", "--values", "cpu"}).code);
  for (const char* command : {"fit", "sweep"}) {
    const ProgramResult of_scenarios = ohm({command, "good.lua", "--assume-selected", "max"});
    EXPECT_EQ(2, of_scenarios.code);
    EXPECT_THAT(of_scenarios.err, HasSubstr("require a command after --"));
  }
}

TEST_F(ExecValues, FitsAreUpperBoundsWhereRowsAreSelectedByAnAssumption) {
  folder_.write("masks.py", torch_script(R"(
import ctypes, os
x = torch.empty(int(sys.argv[1].split("=")[1]) << 20)
assert os.environ["OHM_ASSUME_SELECTED"] == "max"
ctypes.CDLL(None).ohm_note_assumption(b"assumed_selection")
)"));
  const std::vector<std::string> command = {"fit", "--vary",  "batch=1..100", "--gpu",  "tiny-64m",
                                            "--",  "python3", "masks.py",     "batch=3"};
  const std::string text = test::on_one_line(ohm(command).out);
  EXPECT_THAT(text, AllOf(HasSubstr("upper bound assumes that every row is selected "
                                    "(--assume-selected max): where fewer are, a larger batch may "
                                    "do"),
                          HasSubstr("reserved at the peak (upper bound)"),
                          Not(HasSubstr("exactly")), Not(HasSubstr("(exact)"))));
}

TEST_F(ExecValues, FitsThatDependOnThemAreNotExact) {
  folder_.write("reads.py", reading_script(kReads,
                                           "batch = int(sys.argv[1].split('=')[1])\n"
                                           "x = torch.empty(batch << 20)\n"));
  const std::vector<std::string> command = {"fit", "--vary",  "batch=1..100", "--gpu",  "tiny-64m",
                                            "--",  "python3", "reads.py",     "batch=3"};
  const std::string text = test::on_one_line(ohm(command).out);
  EXPECT_THAT(text, AllOf(HasSubstr("not exact shape at train.py:9 depends on values that were not "
                                    "computed"),
                          HasSubstr("reserved at the peak (not exact)"), Not(HasSubstr("exactly")),
                          Not(HasSubstr("(exact)"))));
}

}  // namespace
}  // namespace ohm
