// ohm record through the real program, on the virtual GPU. PyTorch is stood in for by
// tests/harness/support/stand_in_torch.
#include <gmock/gmock.h>

#include <algorithm>
#include <csignal>
#include <filesystem>

#include "tests/harness/program/program_test.h"

namespace ohm {
namespace {

using test::ProgramResult;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

class Record : public test::ProgramTest {
 protected:
  Record() {
    ::setenv("PYTHONDONTWRITEBYTECODE", "1", 1);  // nothing into the tree of the sources
    ::setenv("PYTHONPATH", OHM_STAND_IN_TORCH, 1);
    folder_.write("train.py", R"(
import torch
def train():
    model = torch.nn.Module(4 << 20)
    optimizer = torch.optim.Optimizer(model._parameters.values())
    for _ in range(5):
        activations = [torch.empty(2 << 20) for _ in range(3)]
        model.backward()
        optimizer.step()
        del activations
train()
print("trained")
)");
    folder_.write("greedy.py", R"(
import torch
kept = []
while True:
    kept.append(torch.empty(8 << 20))
)");
  }
  ~Record() override { ::unsetenv("PYTHONPATH"); }

  /// On the virtual GPU, which has nothing to do with the recording.
  ProgramResult record(const std::vector<std::string>& options,
                       const std::vector<std::string>& command) {
    std::vector<std::string> words = {"exec", "--gpu",    "tiny-64m", "--no-record",
                                      "--",   OHM_BINARY, "record"};
    words.insert(words.end(), options.begin(), options.end());
    words.emplace_back("--");
    words.insert(words.end(), command.begin(), command.end());
    return ohm(words);
  }
  std::string report(const std::string& name) { return ohm({"report", name}).out; }
  std::string json_of(const std::string& name) {
    ohm({"report", name, "-o", "result.json"});
    return test::read_file(file("result.json"));
  }
  std::vector<std::string> snapshots() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
      const std::string name = entry.path().filename();
      if (name.find(".pickle") != std::string::npos) names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    return names;
  }
};

TEST_F(Record, MarksTheStepsOfAJob) {
  const ProgramResult ran = record({}, {"python3", "train.py"});
  EXPECT_EQ(0, ran.code);
  EXPECT_EQ("trained\n", ran.out);
  EXPECT_THAT(ran.err, HasSubstr("memory.pickle"));
  EXPECT_THAT(snapshots(), ElementsAre("memory.pickle"));
  const std::string text = report("memory.pickle");
  EXPECT_THAT(text, AllOf(HasSubstr(" events, 5 steps"), HasSubstr("train.py:7"),
                          HasSubstr("optimizer_state")));
}

TEST_F(Record, WhatGoesWrongMeanwhileIsSaidAndLosesNothing) {
  folder_.write("odd.py", R"(
import torch

class Odd(torch.optim.Optimizer):
    def step(self):
        self.state = None
        for hook in torch.optim.optimizer.after:
            hook(self, (), {})

model = torch.nn.Module(1 << 20)
optimizer = Odd(model._parameters.values())
model.backward()
optimizer.step()
)");
  const ProgramResult ran = record({}, {"python3", "odd.py"});
  EXPECT_EQ(0, ran.code);
  EXPECT_THAT(ran.err, HasSubstr("is not recorded as it should be: AttributeError"));
  EXPECT_THAT(report("memory.pickle"), HasSubstr("odd.py"));
}

TEST_F(Record, WhatAConstructorThatFailedLeftIsNotInTheWay) {
  folder_.write("unfinished.py", R"(
import torch

def attempt(kind):
    class Unfinished(kind):
        def __init__(self):
            raise ValueError
    try:
        Unfinished()
    except ValueError as error:
        return error

kept = [attempt(torch.nn.Module), attempt(torch.optim.Optimizer)]
model = torch.nn.Module(1 << 20)
optimizer = torch.optim.Optimizer(model._parameters.values())
model.backward()
optimizer.step()
)");
  const ProgramResult ran = record({}, {"python3", "unfinished.py"});
  EXPECT_EQ(0, ran.code);
  EXPECT_THAT(ran.err, Not(HasSubstr("is not recorded as it should be")));
}

TEST_F(Record, NamesTheWorkspacesThatCublasHasKept) {
  folder_.write("multiplies.py", R"(
import torch
for _ in range(3):
    result = torch.mm(4 << 20)
)");
  record({}, {"python3", "multiplies.py"});
  ohm({"report", "--report", "json=result.json", "memory.pickle"});
  const std::string result = test::read_file(file("result.json"));
  EXPECT_THAT(result,
              AllOf(HasSubstr("\"workspace\": 2097152"), HasSubstr("\"activation\": 8388608")));
}

TEST_F(Record, AStepEndsWhenAllOptimizersHaveStepped) {
  folder_.write("gan.py", R"(
import torch
models = [torch.nn.Module(1 << 20) for _ in range(2)]
optimizers = [torch.optim.Optimizer(model._parameters.values()) for model in models]
for _ in range(4):
    for model, optimizer in zip(models, optimizers):
        model.backward()
        optimizer.step()
)");
  record({}, {"python3", "gan.py"});
  EXPECT_THAT(report("memory.pickle"), HasSubstr(" events, 4 steps"));
}

TEST_F(Record, AnOptimizerThatTakesOverHasStepsOfItsOwn) {
  folder_.write("trials.py", R"(
import torch
model = torch.nn.Module(1 << 20)
kept = []
for trial in range(3):
    optimizer = torch.optim.Optimizer(model._parameters.values())
    kept.append(optimizer)
    for _ in range(4):
        model.backward()
        optimizer.step()
)");
  record({}, {"python3", "trials.py"});
  EXPECT_THAT(report("memory.pickle"), HasSubstr(" events, 12 steps"));
  folder_.write("warmed_up.py", R"(
import torch
models = [torch.nn.Module(1 << 20) for _ in range(2)]
optimizers = [torch.optim.Optimizer(model._parameters.values()) for model in models]
for step in range(6):
    for model, optimizer in zip(models, optimizers if step > 2 else optimizers[:1]):
        model.backward()
        optimizer.step()
)");
  record({}, {"python3", "warmed_up.py"});
  EXPECT_THAT(report("memory.pickle"), HasSubstr(" events, 6 steps"));
}

TEST_F(Record, WritesAFileWhenMemoryRunsOutAndOneAtTheEnd) {
  const ProgramResult ran = record({"-o", "run.pickle"}, {"python3", "greedy.py"});
  EXPECT_EQ(1, ran.code);
  EXPECT_THAT(ran.err, HasSubstr("OutOfMemoryError"));
  EXPECT_THAT(snapshots(), ElementsAre("run.oom.pickle", "run.pickle"));
  for (const std::string name : {"run.oom.pickle", "run.pickle"}) {
    EXPECT_THAT(report(name), HasSubstr("out of memory at event")) << name;
    EXPECT_THAT(ohm({"why", name}).out,
                AllOf(HasSubstr("Out of memory on cuda:0"), HasSubstr("greedy.py:5")));
  }
}

TEST_F(Record, TheJobsEndIsItsOwn) {
  folder_.write("ends.py", "import torch\nx = torch.empty(1 << 20)\nraise SystemExit(7)\n");
  EXPECT_EQ(7, record({}, {"python3", "ends.py"}).code);
  EXPECT_EQ(128 + SIGKILL, record({}, {"sh", "-c", "kill -KILL $$"}).code);
  EXPECT_THAT(snapshots(), ElementsAre("memory.pickle"));
}

TEST_F(Record, AnErrorAndAnExitAtOnceAreEnds) {
  folder_.write("raises.py", "import torch\nx = torch.empty(1 << 20)\nraise ValueError\n");
  EXPECT_EQ(1, record({"-o", "raises.pickle"}, {"python3", "raises.py"}).code);
  folder_.write("exits.py", "import os, torch\nx = torch.empty(1 << 20)\nos._exit(4)\n");
  EXPECT_EQ(4, record({"-o", "exits.pickle"}, {"python3", "exits.py"}).code);
  EXPECT_THAT(snapshots(), ElementsAre("exits.pickle", "raises.pickle"));
}

TEST_F(Record, RanksHaveAFileEach) {
  const ProgramResult ran =
      record({}, {"sh", "-c", "RANK=0 python3 train.py && RANK=1 python3 train.py"});
  EXPECT_EQ(0, ran.code);
  EXPECT_THAT(snapshots(), ElementsAre("memory.rank0.pickle", "memory.rank1.pickle"));
}

TEST_F(Record, NoProcessTakesAnothersFile) {
  EXPECT_EQ(0, record({}, {"sh", "-c", "python3 train.py && python3 train.py"}).code);
  EXPECT_THAT(snapshots(), ElementsAre("memory.pickle", StartsWith("memory.pid")));
}

TEST_F(Record, AForkedWorkerWritesNothing) {
  folder_.write("forks.py", R"(
import os, torch
x = torch.empty(1 << 20)
child = os.fork()
if child == 0:
    raise SystemExit(0)
os.waitpid(child, 0)
)");
  const ProgramResult ran = record({}, {"python3", "forks.py"});
  EXPECT_EQ(0, ran.code);
  EXPECT_THAT(snapshots(), ElementsAre("memory.pickle"));
  EXPECT_EQ(ran.err.find("memory.pickle"), ran.err.rfind("memory.pickle")) << ran.err;
}

TEST_F(Record, KeepsTheLastEvents) {
  const ProgramResult ran = record({"--max-entries", "20"}, {"python3", "train.py"});
  EXPECT_THAT(ran.err,
              AllOf(HasSubstr("ohm: the last 20 events are in "),
                    HasSubstr("; earlier ones were not kept, --max-entries keeps more\n")));
  const std::string text = report("memory.pickle");
  EXPECT_THAT(text, HasSubstr("the last 20 events"));
  EXPECT_THAT(text, HasSubstr("ohm record --max-entries"));
}

TEST_F(Record, LeavesTheRestOfTheJobAloneAfterSoManySteps) {
  const ProgramResult ran = record({"--steps", "3"}, {"python3", "train.py"});
  EXPECT_EQ(0, ran.code);
  EXPECT_EQ("trained\n", ran.out);
  EXPECT_THAT(report("memory.pickle"), HasSubstr(" events, 3 steps"));
  record({"--steps", "9", "-o", "all.pickle"}, {"python3", "train.py"});
  EXPECT_THAT(report("all.pickle"), HasSubstr(" events, 5 steps"));
}

constexpr const char* kManySteps = R"(
import sys
import torch

def step(size=1 << 20):
    activations = [torch.empty(size) for _ in range(8)]
    model.backward()
    optimizer.step()

model = torch.nn.Module(1 << 20)
optimizer = torch.optim.Optimizer(model._parameters.values())
for _ in range(400):
    step()
)";

/// "400": of the steps in the report's line "1,234 events, 72 steps; 328 more, ...".
int number_before(const std::string& text, const std::string& word) {
  const std::size_t end = text.find(word);
  if (end == std::string::npos) return -1;
  const std::size_t begin = text.find_last_not_of("0123456789", end - 1);
  return std::stoi(text.substr(begin + 1, end - begin - 1));
}

TEST_F(Record, LeavesOutStepsThatHaveBecomeAlike) {
  folder_.write("many.py", kManySteps);
  const ProgramResult ran = record({}, {"python3", "many.py"});
  EXPECT_EQ(0, ran.code);
  EXPECT_THAT(ran.err, HasSubstr("needed no more memory, and are left out"));
  const std::string text = test::on_one_line(report("memory.pickle"));
  const int recorded = number_before(text, " steps; ");
  EXPECT_GE(recorded, 64);
  EXPECT_LT(recorded, 400);
  EXPECT_EQ(400, recorded + number_before(text, " more, which needed no more memory")) << text;
  record({"--all-steps", "-o", "all.pickle"}, {"python3", "many.py"});
  EXPECT_THAT(report("all.pickle"), HasSubstr(" events, 400 steps"));
}

TEST_F(Record, LargerStepsBehindAlikeOnesAreRecorded) {
  folder_.write("grows.py", std::string(kManySteps) + R"(
for _ in range(40):
    step(2 << 20 | 1)
)");
  const ProgramResult ran = record({}, {"python3", "grows.py"});
  EXPECT_THAT(ran.err, HasSubstr("a step that was left out allocated"));
  // Of the history that began when they came.
  const std::string text = report("memory.pickle");
  EXPECT_THAT(text, Not(HasSubstr("left out")));
  EXPECT_LT(number_before(text, " steps"), 64);
}

TEST_F(Record, MoreThanAlikeStepsNeededIsSaidWhereItIsNotRecorded) {
  folder_.write("ends.py", std::string(kManySteps) + "larger = torch.empty(30 << 20)\n");
  const ProgramResult ran = record({}, {"python3", "ends.py"});
  EXPECT_THAT(ran.err, HasSubstr("ohm record --all-steps has them"));
  EXPECT_THAT(report("memory.pickle"), Not(HasSubstr("left out")));
}

TEST_F(Record, StepsThatLeaveSomethingOrFillTheGpuAreAllRecorded) {
  const std::string steps = kManySteps;
  folder_.write("leaks.py", steps.substr(0, steps.find("for _ in range(400)")) + R"(
kept = []
for number in range(100):
    if number % 10 == 0:
        kept.append(torch.empty(1))
    step()
)");
  record({"-o", "leaks.pickle"}, {"python3", "leaks.py"});
  EXPECT_THAT(report("leaks.pickle"), HasSubstr(" events, 100 steps"));
  folder_.write("full.py", "import torch\nkept = torch.empty(16 << 20)\n" + steps);
  record({"-o", "full.pickle"}, {"python3", "full.py"});
  EXPECT_THAT(report("full.pickle"), HasSubstr(" events, 400 steps"));
}

TEST_F(Record, MemoryThatRunsOutBehindAlikeStepsIsWritten) {
  folder_.write("fails.py", std::string(kManySteps) + "larger = torch.empty(90 << 20)\n");
  const ProgramResult ran = record({}, {"python3", "fails.py"});
  EXPECT_EQ(1, ran.code);
  EXPECT_THAT(snapshots(), ElementsAre("memory.oom.pickle", "memory.pickle"));
  EXPECT_THAT(ohm({"why", "memory.oom.pickle"}).out,
              AllOf(HasSubstr("Out of memory on cuda:0"), HasSubstr("fails.py:14")));
}

TEST_F(Record, MemoryThatRunsOutBehindTheStepsIsNotWritten) {
  folder_.write("late.py", R"(
import torch
model = torch.nn.Module(1 << 20)
optimizer = torch.optim.Optimizer(model._parameters.values())
for _ in range(3):
    optimizer.step()
torch.empty(1 << 40)
)");
  EXPECT_EQ(1, record({"--steps", "1"}, {"python3", "late.py"}).code);
  EXPECT_THAT(snapshots(), ElementsAre("memory.pickle"));
}

TEST_F(Record, WithoutStacksThereAreBytesAlone) {
  EXPECT_EQ(0, record({"--stacks", "none"}, {"python3", "train.py"}).code);
  const std::string text = report("memory.pickle");
  EXPECT_THAT(text, AllOf(HasSubstr(" events, 5 steps"), HasSubstr("optimizer_state")));
  EXPECT_THAT(text, Not(HasSubstr("train.py:")));
}

TEST_F(Record, NamesTheModulesThatWereRunning) {
  folder_.write("layers.py", R"(
import torch

class Layer(torch.nn.Module):
    def forward(self):
        return torch.empty(4 << 20)

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__(1 << 20)
        for number in range(3):
            self.add_module(str(number), Layer(1 << 20))
    def forward(self):
        return [layer() for layer in self._modules.values()]

net = Net()
call = torch.nn.Module.__call__
kept = net()
net.add_module("head", Layer(1 << 20))
kept.append(net._modules["head"]())
assert torch.nn.Module.__call__ is call
torch.compile(net)
assert vars(torch.nn.Module)["__call__"] is call
)");
  EXPECT_EQ(0, record({"--modules", "-o", "with.pickle"}, {"python3", "layers.py"}).code);
  EXPECT_THAT(json_of("with.pickle"),
              AllOf(HasSubstr(R"("module": "Net.0")"), HasSubstr(R"("module": "Net.1")"),
                    HasSubstr(R"("module": "Net.2")"), HasSubstr(R"("module": "Net.head")")));
  EXPECT_THAT(report("with.pickle"), AllOf(HasSubstr("Net.*"), HasSubstr("Net.head")));
  EXPECT_EQ(0, record({"-o", "without.pickle"}, {"python3", "layers.py"}).code);
  EXPECT_THAT(json_of("without.pickle"), Not(HasSubstr("Net.")));
}

/// What is called by itself, and later as a part of another module, is one module.
TEST_F(Record, NamesAModuleAsItWasCalledLast) {
  folder_.write("parts.py", R"(
import torch

class Net(torch.nn.Module):
    def forward(self):
        return torch.empty(4 << 20)

class Trainer(torch.nn.Module):
    def forward(self):
        return self._modules["model"]()

class Other(Net):
    pass

def trained(model):
    trainer = Trainer(1 << 20)
    trainer.add_module("model", model)
    return trainer

net, first, second = Net(1 << 20), Other(1 << 20), Other(1 << 20)
kept = [net(), trained(net)()]
kept += [first(), second(), trained(first)()]
third = Net(1 << 20)
kept.append(third())
)");
  EXPECT_EQ(0, record({"--modules"}, {"python3", "parts.py"}).code);
  const std::string text = report("memory.pickle");
  // Of net both, and of first what came after it was a part; what was Other may have been second's.
  const std::string line = " × empty  " + file("parts.py") + ":6 ";
  EXPECT_THAT(text, HasSubstr("12.00 MiB      3" + line + "(Trainer.model)"));
  EXPECT_THAT(text, HasSubstr("8.00 MiB      2" + line + "(Other)"));
  EXPECT_THAT(text, HasSubstr("4.00 MiB      1" + line + "(Net)"));
}

TEST_F(Record, SaysThatNothingUsedCuda) {
  const ProgramResult ran = record({}, {"sh", "-c", "exit 5"});
  EXPECT_EQ(5, ran.code);
  EXPECT_THAT(ran.err, HasSubstr("no Python of the command has used CUDA through PyTorch"));
  EXPECT_THAT(snapshots(), IsEmpty());
}

TEST_F(Record, ACommandThatIsOnlyCalledLikePythonRunsOnceAsItIs) {
  folder_.write("python_job", "#!/bin/sh\necho \"$@\" >>ran\n");
  std::filesystem::permissions(file("python_job"), std::filesystem::perms::owner_all);
  EXPECT_EQ(0, record({}, {"./python_job", "-I"}).code);
  EXPECT_EQ("-I\n", test::read_file(file("ran")));
}

TEST_F(Record, RecordsUnderARecordingExec) {
  const ProgramResult ran = ohm({"exec", "--gpu", "tiny-64m", "--report", "json=result.json", "--",
                                 OHM_BINARY, "record", "--", "python3", "train.py"});
  EXPECT_EQ(0, ran.code);
  EXPECT_THAT(report("memory.pickle"), HasSubstr(" events, 5 steps"));
  EXPECT_THAT(test::read_file(file("result.json")), HasSubstr("\"optimizer_state\": 4194304"));
}

TEST_F(Record, SaysWhatIsWrongBeforeAnythingStarts) {
  std::filesystem::create_directories(file("without_cuda/torch"));
  folder_.write("without_cuda/torch/__init__.py", "");
  folder_.write("without_cuda/torch/version.py", "__version__ = '2.6.0+cpu'\ncuda = None\n");
  std::filesystem::create_directory(file("folder"));
  folder_.write("without", "#!/usr/bin/env python3\nopen('ran', 'w')\n");
  std::filesystem::permissions(file("without"), std::filesystem::perms::owner_all);
  struct Case {
    std::string path;
    std::vector<std::string> arguments;
    int code;
    std::string says;
  };
  const std::vector<Case> cases = {
      {OHM_STAND_IN_TORCH,
       {"python3", "train.py"},
       2,
       "the program comes after --, as in: ohm rec"},
      {OHM_STAND_IN_TORCH, {"--"}, 2, "the program comes after --, as in: ohm record"},
      {OHM_STAND_IN_TORCH, {"--", "no-such-command"}, 2, "command not found"},
      {OHM_STAND_IN_TORCH, {"-o", "no/x.pickle", "--", "python3", "ran.py"}, 2, "no/x.pickle"},
      {OHM_STAND_IN_TORCH, {"-o", "folder", "--", "python3", "ran.py"}, 2, "folder"},
      {OHM_STAND_IN_TORCH, {"-o", "/dev/null", "--", "python3", "ran.py"}, 2, "is not a file"},
      {OHM_STAND_IN_TORCH, {"--max-entries", "0", "--", "python3", "ran.py"}, 2, "max-entries"},
      {OHM_STAND_IN_TORCH, {"--steps", "0", "--", "python3", "ran.py"}, 2, "--steps"},
      {OHM_STAND_IN_TORCH, {"--stacks", "all", "--", "python3", "ran.py"}, 2, "--stacks"},
      {OHM_STAND_IN_TORCH,
       {"--stacks", "none", "--modules", "--", "python3", "ran.py"},
       2,
       "--modules needs stacks"},
      {OHM_STAND_IN_TORCH, {"--", "python3", "-uI", "ran.py"}, 2, "remove -I"},
      {file("folder"), {"--", "python3", "ran.py"}, 6, "has no PyTorch"},
      {file("folder"), {"--", "./without"}, 6, "has no PyTorch"},
      {file("without_cuda"), {"--", "python3", "ran.py"}, 6, "2.6.0+cpu"},
  };
  folder_.write("ran.py", "open('ran', 'w')\n");
  for (const Case& wrong : cases) {
    ::setenv("PYTHONPATH", wrong.path.c_str(), 1);
    std::vector<std::string> arguments = {"record"};
    arguments.insert(arguments.end(), wrong.arguments.begin(), wrong.arguments.end());
    const ProgramResult ran = ohm(arguments);
    EXPECT_EQ(wrong.code, ran.code) << wrong.says << ran.err;
    EXPECT_THAT(ran.err, HasSubstr(wrong.says));
    EXPECT_FALSE(std::filesystem::exists(file("ran"))) << wrong.says;
  }
  EXPECT_THAT(snapshots(), IsEmpty());
}

}  // namespace
}  // namespace ohm
