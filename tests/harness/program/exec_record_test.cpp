// What ohm exec records of Python programs, and what it says of it. PyTorch is stood in for by
// tests/harness/support/stand_in_torch, on the virtual GPU.
#include <gmock/gmock.h>

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

class ExecRecord : public test::ProgramTest {
 protected:
  ExecRecord() {
    ::setenv("PYTHONDONTWRITEBYTECODE", "1", 1);  // nothing into the tree of the sources
    folder_.write("train.py", torch_script(R"(
MiB = 1 << 20
def train():
    model = torch.nn.Module(4 * MiB)
    optimizer = torch.optim.Optimizer(model._parameters.values())
    activations = [torch.empty(2 * MiB) for _ in range(3)]
    model.backward()
    optimizer.step()
train()
print("trained")
)"));
    folder_.write("greedy.py", torch_script(R"(
kept = []
while True:
    kept.append(torch.empty(8 << 20))
)"));
  }

  ProgramResult exec(std::vector<std::string> options, const std::vector<std::string>& command) {
    options.insert(options.begin(), {"exec", "--gpu", "tiny-64m"});
    options.emplace_back("--");
    options.insert(options.end(), command.begin(), command.end());
    return ohm(options);
  }
  Json report_of(const std::vector<std::string>& command) {
    exec({"--report", "json=result.json"}, command);
    return Json::parse(test::read_file(file("result.json")));
  }
};

TEST_F(ExecRecord, SaysNothingOfAProgramThatSucceeds) {
  const ProgramResult ran = exec({}, {"python3", "train.py"});
  EXPECT_EQ(0, ran.code);
  EXPECT_EQ("trained\n", ran.out);
  EXPECT_EQ("", ran.err);
}

TEST_F(ExecRecord, ReportsThePeakByCategoryAndLine) {
  const Json result = report_of({"python3", "train.py"});
  EXPECT_EQ(result["command"], (Json{{"command", "python3 train.py"}, {"exit_status", 0}}));
  const Json& scenario = result["scenarios"].at(0);
  EXPECT_EQ("train", scenario["name"]);
  const Json& device = scenario["variants"].at(0)["devices"].at(0);
  EXPECT_EQ("tiny-64m", device["profile"]);
  EXPECT_EQ(18 << 20, device["peak_allocated_bytes"]);
  EXPECT_EQ(9, device["num_device_alloc"].get<int>() + 3);
  const Json& categories = device["peak_by_category"];
  EXPECT_EQ(4 << 20, categories["parameter"]);
  EXPECT_EQ(4 << 20, categories["gradient"]);
  EXPECT_EQ(4 << 20, categories["optimizer_state"]);
  const Json& holder = device["peak"]["holders"].at(0);
  EXPECT_EQ("train.py", holder["file"]);
  EXPECT_EQ(6 << 20, holder["bytes"]);
  EXPECT_EQ("activations = [torch.empty(2 * MiB) for _ in range(3)]", holder["text"]);
}

TEST_F(ExecRecord, LinesTellDataFromWhatIsComputed) {
  folder_.write("lines.py", torch_script(R"(
def train(batches):
    for size in batches:
        data = torch.empty(  # of another size each time
            size << 20)
        result = torch.mm(4 << 20)
        both = [torch.mm(2 << 20), torch.empty(2 << 20)]
train([6, 6])
)"));
  const Json result = report_of({"python3", "lines.py"});
  const Json& device = result["scenarios"].at(0)["variants"].at(0)["devices"].at(0);
  const Json& categories = device["peak_by_category"];
  EXPECT_EQ(12 << 20, categories["input"]);
  EXPECT_EQ(4 << 20, categories["activation"]);
  EXPECT_EQ(4 << 20, categories["other"]) << "a line that does both tells neither";
  EXPECT_EQ(2 << 20, categories["workspace"]) << "cuBLAS has kept it";
  EXPECT_EQ(2 << 20, device["allocated_at_end_bytes"]) << "as it was before cuBLAS let go of it";
}

TEST_F(ExecRecord, PeaksOutliveTheirReset) {
  folder_.write("resets.py", torch_script("x = torch.empty(16 << 20)\ndel x\n"
                                          "torch.cuda.reset_peak_memory_stats()\n"
                                          "y = torch.empty(2 << 20)\n"));
  const Json result = report_of({"python3", "resets.py"});
  EXPECT_EQ(16 << 20,
            result["scenarios"].at(0)["variants"].at(0)["devices"].at(0)["peak_allocated_bytes"]);
}

TEST_F(ExecRecord, GatesFailTheCommand) {
  EXPECT_EQ(0, exec({"--gate", "peak_allocated_bytes <= 18 MiB"}, {"python3", "train.py"}).code);
  const ProgramResult ran =
      exec({"--gate", "peak_allocated_bytes < 18 MiB", "--gate", "num_alloc_retries == 0"},
           {"python3", "train.py"});
  EXPECT_EQ(1, ran.code);
  EXPECT_EQ("trained\n", ran.out);
  EXPECT_THAT(ran.err, HasSubstr("peak_allocated_bytes < 18 MiB"));
}

TEST_F(ExecRecord, TheCommandsOwnFailureComesFirst) {
  folder_.write("fails.py", torch_script("x = torch.empty(16 << 20)\nsys.exit(7)\n"));
  EXPECT_EQ(7, exec({"--gate", "peak_allocated_bytes < 1 MiB"}, {"python3", "fails.py"}).code);
  EXPECT_EQ(7, report_of({"python3", "fails.py"})["command"]["exit_status"]);
}

TEST_F(ExecRecord, OutOfMemoryIsReportedWithWhatWasAlive) {
  const ProgramResult ran = exec({}, {"python3", "greedy.py"});
  EXPECT_EQ(1, ran.code);
  EXPECT_THAT(
      ran.err,
      AllOf(HasSubstr("OutOfMemoryError: CUDA out of memory. Tried to allocate 8 MiB."),
            HasSubstr("greedy ran out of memory on cuda:0: 8.00 MiB"), HasSubstr("greedy.py:6"),
            HasSubstr("what was alive on cuda:0"), HasSubstr("kept.append(torch.empty(8 << 20))")));
  const Json result = report_of({"python3", "greedy.py"});
  const Json& variant = result["scenarios"].at(0)["variants"].at(0);
  EXPECT_EQ("oom", variant["outcome"]);
  EXPECT_EQ("CUDA out of memory. Tried to allocate 8 MiB.", variant["oom"]["message"]);
  EXPECT_EQ("failed", variant["verdict"]);
  EXPECT_EQ("out of memory on cuda:0: 8.00 MiB for empty, greedy.py:6", variant["reason"]);
}

TEST_F(ExecRecord, NamesWhatTheFiguresRestOn) {
  const auto modelled = [this](const std::string& program) {
    const Json result = report_of({"python3", program});
    return result["scenarios"].at(0)["variants"].at(0)["devices"].at(0).value("modelled", Json());
  };
  EXPECT_EQ(Json(), modelled("train.py")) << "exact";
  EXPECT_EQ(Json({"process_context"}), modelled("greedy.py")) << "it decides where memory ends";
}

TEST_F(ExecRecord, AnErrorThatTheProgramHandlesIsNoEnd) {
  folder_.write("catches.py", torch_script(R"(
try:
    x = torch.empty(1 << 30)
except torch.cuda.OutOfMemoryError:
    pass
)"));
  const ProgramResult ran = exec({}, {"python3", "catches.py"});
  EXPECT_EQ(0, ran.code);
  EXPECT_EQ("", ran.err);
  EXPECT_EQ(1, exec({"--gate", "num_ooms == 0"}, {"python3", "catches.py"}).code);
}

TEST_F(ExecRecord, AProcessOfAFailedCommandThatRanOutOfMemoryHasFailed) {
  const auto verdict_of = [&](const std::string& body) {
    folder_.write("fails.py", torch_script(body));
    const Json variant = report_of({"python3", "fails.py"})["scenarios"].at(0)["variants"].at(0);
    return variant["verdict"].get<std::string>() + " " + variant["outcome"].get<std::string>();
  };
  const std::string caught =
      "try: torch.empty(1 << 30)\nexcept torch.cuda.OutOfMemoryError: sys.exit(";
  EXPECT_EQ("failed oom", verdict_of(caught + "1)\n"));
  EXPECT_EQ("recorded completed", verdict_of(caught + "0)\n"));
  EXPECT_EQ("failed oom", verdict_of("import threading\n"
                                     "t = threading.Thread(target=torch.empty, args=(1 << 30,))\n"
                                     "t.start(); t.join()\n"));
  EXPECT_EQ("failed oom", verdict_of("import multiprocessing as m\n"
                                     "p = m.get_context('fork').Process(\n"
                                     "    target=torch.empty, args=(1 << 30,))\n"
                                     "p.start(); p.join()\n"));
  EXPECT_EQ("failed oom", verdict_of("x = torch.empty(1)\n"
                                     "sys.excepthook = lambda *_: print('mine')\n"
                                     "torch.empty(1 << 30)\n"));
}

TEST_F(ExecRecord, WhatTheHistoryDoesNotReachIsNotJudged) {
  folder_.write("many.py", torch_script(R"(
kept = [torch.empty(2 << 20) for _ in range(10)]
del kept
for _ in range(100): torch.empty(2 << 20)
)"));
  ::setenv("OHM_RECORD_EVENTS", "50", 1);
  const ProgramResult ran = exec({"--gate", "peak_other_bytes < 1 GiB"}, {"python3", "many.py"});
  const int of_counters =
      exec({"--gate", "peak_allocated_bytes == 20 MiB"}, {"python3", "many.py"}).code;
  ::setenv("OHM_RECORD_EVENTS", "many", 1);
  const ProgramResult unreadable = exec({}, {"python3", "train.py"});
  ::unsetenv("OHM_RECORD_EVENTS");
  EXPECT_EQ(3, ran.code);
  EXPECT_THAT(ran.err, HasSubstr("the history does"));
  EXPECT_EQ(0, of_counters);
  EXPECT_EQ(0, unreadable.code);
  EXPECT_EQ("trained\n", unreadable.out);
  EXPECT_THAT(unreadable.err, HasSubstr("invalid literal for int()"));
}

TEST_F(ExecRecord, SaysThatEarlierEventsWereNotKept) {
  const auto said_with = [&](const std::string& most_events) {
    ::setenv("OHM_RECORD_EVENTS", most_events.c_str(), 1);
    const Json result = report_of({"python3", "train.py"});
    ::unsetenv("OHM_RECORD_EVENTS");
    return result["scenarios"].at(0)["variants"].at(0)["reason"].get<std::string>();
  };
  const std::string whole = said_with("1000");
  const int events = std::stoi(whole);
  EXPECT_THAT(whole, testing::StartsWith(std::to_string(events) + " events"));
  EXPECT_EQ(whole, said_with(std::to_string(events))) << "none is missing";
  EXPECT_THAT(said_with(std::to_string(events - 1)),
              testing::StartsWith("the last " + std::to_string(events - 1) +
                                  " events; earlier ones were not kept, OHM_RECORD_EVENTS keeps "
                                  "more"));
}

TEST_F(ExecRecord, StepsOfAHistoryThatWasCutAreNotJudged) {
  ::setenv("OHM_RECORD_EVENTS", "10", 1);
  const ProgramResult ran = exec({"--gate", "steps == 1"}, {"python3", "train.py"});
  ::unsetenv("OHM_RECORD_EVENTS");
  EXPECT_EQ(3, ran.code);
  EXPECT_THAT(ran.err, HasSubstr("the oldest events were not kept"));
}

TEST_F(ExecRecord, AHistoryOfTheProgramStaysItsOwn) {
  folder_.write("own.py",
                torch_script("torch.cuda.memory._record_memory_history(max_entries=4)\n"
                             "kept = [torch.empty(1) for _ in range(8)]\n"
                             "print(len(torch.cuda.memory._snapshot()['device_traces'][0]))\n"));
  EXPECT_EQ("4\n", exec({}, {"python3", "own.py"}).out);
}

TEST_F(ExecRecord, CudaMayBeUsedInAThreadFirst) {
  folder_.write("thread.py",
                torch_script("import threading\n"
                             "t = threading.Thread(target=torch.empty, args=(1 << 20,))\n"
                             "t.start()\nt.join()\n"));
  const ProgramResult ran = exec({}, {"python3", "thread.py"});
  EXPECT_EQ(0, ran.code);
  EXPECT_EQ("", ran.err);
}

TEST_F(ExecRecord, CompiledCodeMayHaveNoMapOfItsLines) {
  folder_.write("compiled.py", torch_script(R"(import types
class PyCodeCache:
    linemaps = {"compiled.py": ()}
    @classmethod
    def stack_frames_for_code(cls, path, line):
        lines, nodes = cls.linemaps[path]
compiler = types.ModuleType("codecache")
compiler.PyCodeCache = PyCodeCache
sys.modules["torch._inductor.codecache"] = compiler
kept = torch.empty(1 << 20)
)"));
  const ProgramResult ran = exec({"--gate", "peak_other_bytes >= 0"}, {"python3", "compiled.py"});
  EXPECT_EQ(0, ran.code) << ran.err;
  EXPECT_THAT(ran.err, Not(HasSubstr("ValueError")));
}

TEST_F(ExecRecord, TheCompilerIsNotImportedForASnapshot) {
  folder_.write("lazy.py", torch_script(R"(
def imported(name):
    if name == "_inductor": print("the compiler is imported")
    raise AttributeError(name)
torch.__getattr__ = imported
kept = torch.empty(1 << 20)
)"));
  const ProgramResult ran = exec({"--gate", "peak_other_bytes >= 0"}, {"python3", "lazy.py"});
  EXPECT_EQ(0, ran.code) << ran.err;
  EXPECT_THAT(ran.out, Not(HasSubstr("the compiler is imported")));
}

TEST_F(ExecRecord, CountsOutliveTheirReset) {
  folder_.write("resets.py", torch_script("try: torch.empty(1 << 30)\n"
                                          "except torch.cuda.OutOfMemoryError: pass\n"
                                          "torch.cuda.reset_accumulated_memory_stats()\n"));
  EXPECT_EQ(0, exec({"--gate", "num_ooms == 1"}, {"python3", "resets.py"}).code);
}

TEST_F(ExecRecord, ABaselineOfOneProcessIsNotOneOfAnother) {
  report_of({"python3", "train.py"});
  const ProgramResult ran =
      exec({"--baseline", "result.json"},
           {"sh", "-c", "python3 train.py; cp train.py other.py; python3 other.py"});
  EXPECT_EQ(1, ran.code);
  EXPECT_THAT(ran.err, HasSubstr("result.json has no figures of other"));
}

TEST_F(ExecRecord, NamesMayBeNoText) {
  std::filesystem::copy(file("train.py"), file("bad\xff.py"));
  const ProgramResult ran =
      exec({"--gate", "peak_allocated_bytes <= 18 MiB", "--report", "json=result.json"},
           {"python3", "bad\xff.py", "\xff"});
  EXPECT_EQ(0, ran.code) << ran.err;
}

TEST_F(ExecRecord, ACommandMayRemoveTheRecords) {
  std::filesystem::create_directory(file("scratch"));
  const auto code_of = [&](const std::string& command) {
    test::Program program(folder_.path().string(), {"exec", "--", "sh", "-c", command},
                          [&] { ::setenv("TMPDIR", file("scratch").c_str(), 1); });
    return program.wait().code;
  };
  EXPECT_EQ(4, code_of("rm -r scratch; exit 4"));
  EXPECT_EQ(5, code_of("exit 5")) << "without a folder there is /tmp";
}

TEST_F(ExecRecord, CallsOfTheDeviceFailAsPlanned) {
  folder_.write("tries.py", torch_script(R"(
for i in range(4):
    try:
        x = torch.empty(2 << 20)
    except torch.cuda.OutOfMemoryError:
        print(i)
)"));
  EXPECT_EQ("1\n", exec({"--fault", "nth(2)"}, {"python3", "tries.py"}).out);
  EXPECT_EQ("2\n3\n", exec({"--fault", "persistent(nth(3))"}, {"python3", "tries.py"}).out);
  EXPECT_EQ("", exec({"--fault", "size(>=4MiB)"}, {"python3", "tries.py"}).out);
  EXPECT_EQ("0\n1\n2\n3\n", exec({"--fault", "capacity(1MiB)"}, {"python3", "tries.py"}).out);
  EXPECT_EQ(2, exec({"--fault", "nht(2)"}, {"python3", "tries.py"}).code);
}

TEST_F(ExecRecord, BaselinesAreReportsOfTheCommand) {
  report_of({"python3", "train.py"});
  EXPECT_EQ(0, exec({"--baseline", "result.json"}, {"python3", "train.py"}).code);
  folder_.write("train.py", test::read_file(file("train.py")) + "x = torch.empty(20 << 20)\n");
  const ProgramResult ran = exec({"--baseline", "result.json"}, {"python3", "train.py"});
  EXPECT_EQ(1, ran.code);
  EXPECT_THAT(ran.err, HasSubstr("against result.json: "));
}

TEST_F(ExecRecord, EachProcessHasItsPart) {
  folder_.write("many.sh", "#!/bin/sh\nRANK=1 python3 train.py & RANK=0 python3 train.py; wait\n");
  const Json result = report_of({"sh", "many.sh"});
  ASSERT_EQ(2U, result["scenarios"].size());
  EXPECT_EQ("train (rank 0)", result["scenarios"].at(0)["name"]);
  EXPECT_EQ("train (rank 1)", result["scenarios"].at(1)["name"]);
}

TEST_F(ExecRecord, AProcessThatIsKilledIsSaid) {
  folder_.write("killed.py",
                torch_script("import os\nx = torch.empty(1)\nos.kill(os.getpid(), 9)\n"));
  const ProgramResult ran =
      exec({"--gate", "peak_allocated_bytes < 1 GiB"}, {"sh", "-c", "python3 killed.py; true"});
  EXPECT_EQ(3, ran.code);
  EXPECT_THAT(ran.err, HasSubstr("ended before it could write its record"));
}

TEST_F(ExecRecord, ExitingAtOnceIsRecorded) {
  folder_.write("at_once.py", torch_script("import os\nx = torch.empty(4 << 20)\nos._exit(0)\n"));
  EXPECT_EQ(0, exec({"--gate", "peak_allocated_bytes == 4 MiB"}, {"python3", "at_once.py"}).code);
}

TEST_F(ExecRecord, AProgramThatBecomesAnotherIsRecorded) {
  folder_.write("becomes.py", torch_script(R"(
import os
x = torch.empty(16 << 20)
os.execvp("python3", ["python3", "train.py"])
)"));
  const Json result = report_of({"python3", "becomes.py"});
  const Json& scenarios = result["scenarios"];
  ASSERT_EQ(2, scenarios.size());
  const auto peak = [&](std::size_t i) {
    return scenarios[i]["variants"].at(0)["devices"].at(0)["peak_allocated_bytes"];
  };
  EXPECT_EQ(16 << 20, peak(0));
  EXPECT_EQ(18 << 20, peak(1));
}

TEST_F(ExecRecord, SaysOfWhichAllocatorThereIsNoHistory) {
  ::setenv("PYTORCH_CUDA_ALLOC_CONF", "backend:cudaMallocAsync", 1);
  const ProgramResult ran = exec({"--report", "json=result.json"}, {"python3", "train.py"});
  ::unsetenv("PYTORCH_CUDA_ALLOC_CONF");
  EXPECT_EQ(3, ran.code);
  EXPECT_THAT(ran.err, AllOf(HasSubstr("no history of backend:cudaMallocAsync"),
                             Not(HasSubstr("Traceback"))));
}

TEST_F(ExecRecord, GatesNeedARecord) {
  const ProgramResult ran = exec({"--gate", "peak_allocated_bytes < 1 GiB"}, {"true"});
  EXPECT_EQ(5, ran.code);
  EXPECT_THAT(ran.err, HasSubstr("nothing was recorded"));
}

TEST_F(ExecRecord, RecordsAreKeptWhereAsked) {
  EXPECT_EQ(0, exec({"--record", "kept"}, {"python3", "train.py"}).code);
  std::string snapshot;
  for (const auto& entry : std::filesystem::directory_iterator(file("kept"))) {
    if (entry.path().extension() == ".pickle") snapshot = entry.path();
  }
  EXPECT_EQ(0, ohm({"replay", snapshot, "--limit", "peak_allocated_bytes <= 18 MiB"}).code);
  const ProgramResult again = exec({"--record", "kept"}, {"true"});
  EXPECT_EQ(2, again.code);
  EXPECT_THAT(again.err, HasSubstr("kept is not an empty folder"));
}

TEST_F(ExecRecord, TheEnvironmentsOwnSitecustomizeRuns) {
  std::filesystem::create_directory(file("own"));
  folder_.write("own/sitecustomize.py", "print('mine')\n");
  const ProgramResult ran =
      exec({}, {"env", "sh", "-c",
                "PYTHONPATH=$PYTHONPATH:own python3 -c 'import sitecustomize; "
                "print(sitecustomize.__file__)'"});
  EXPECT_THAT(ran.out, AllOf(HasSubstr("mine\n"), HasSubstr("own/sitecustomize.py")));
}

TEST_F(ExecRecord, NothingIsLeftBehind) {
  std::filesystem::create_directory(file("scratch"));
  test::Program program(folder_.path().string(),
                        {"exec", "--gpu", "tiny-64m", "--", "python3", "greedy.py"},
                        [&] { ::setenv("TMPDIR", file("scratch").c_str(), 1); });
  program.wait();
  EXPECT_TRUE(std::filesystem::is_empty(file("scratch")));
}

TEST_F(ExecRecord, SaysWhatIsWrongBeforeAnythingStarts) {
  struct Case {
    std::vector<std::string> options;
    int code;
    std::string says;
  };
  const std::vector<Case> cases = {
      {{"--gate", "peak_bytes < 1"}, 2, "peak_bytes"},
      {{"--gate", "peak_host_bytes < 1"}, 2, "a snapshot does not record peak_host_bytes"},
      {{"--baseline", "missing.json"}, 3, "missing.json"},
      {{"--report", "json=missing/x.json"}, 2, "missing/x.json"},
      {{"--report", "json=-"}, 2, "standard output belongs to the command"},
      {{"--no-record", "--gate", "steps == 1"}, 2, "--no-record records nothing for --gate"},
  };
  for (const Case& wrong : cases) {
    const ProgramResult ran = exec(wrong.options, {"touch", "started"});
    EXPECT_EQ(wrong.code, ran.code) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr(wrong.says));
    EXPECT_FALSE(std::filesystem::exists(file("started"))) << wrong.says;
  }
}

TEST_F(ExecRecord, SignalsReachTheCommand) {
  folder_.write("waits.sh",
                "trap 'echo asked to end; exit 9' TERM\necho ready\n"
                "while :; do sleep 0.05; done\n");
  test::Program program(folder_.path().string(), {"exec", "--", "sh", "waits.sh"});
  while (program.out().empty()) ::usleep(1000);
  program.send(SIGTERM);
  const ProgramResult ran = program.wait();
  EXPECT_EQ(9, ran.code);
  EXPECT_THAT(ran.out, HasSubstr("asked to end"));
}

TEST_F(ExecRecord, ACommandThatASignalEndsEndsOhm) {
  EXPECT_EQ(128 + SIGTERM, exec({}, {"sh", "-c", "kill -TERM $$"}).code);
}

}  // namespace
}  // namespace ohm
