// ohm why: one paragraph on a log, a snapshot, a result; what is not recognised is said to be.
#include <gmock/gmock.h>

#include <algorithm>

#include "tests/harness/program/program_test.h"
#include "tests/support/golden.h"

namespace ohm {
namespace {

using test::ProgramResult;
using ::testing::HasSubstr;

constexpr const char* kLog =
    "Traceback (most recent call last):\n"
    "  File \"train.py\", line 61, in main\n"
    "    loss = model(batch).loss\n"
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 MiB. GPU 0 has a total "
    "capacity of 14.75 GiB of which 960.00 KiB is free. Process 2130 has 14.74 GiB memory in use. "
    "Of "
    "the allocated memory 14.18 GiB is allocated by PyTorch, and 150.00 MiB is reserved by PyTorch "
    "but unallocated.\n";

class Why : public test::ProgramTest {
 protected:
  Why() { folder_.write("crash.log", kLog); }
};

TEST_F(Why, ALogIsExplainedInAtMostTenLines) {
  const ProgramResult ran = ohm({"why", "crash.log"});
  EXPECT_EQ(0, ran.code) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("train.py:61 in main"));
  EXPECT_THAT(test::on_one_line(ran.out), HasSubstr("This process's own tensors fill the GPU"));
  EXPECT_THAT(ran.out, HasSubstr("_record_memory_history"));
  EXPECT_LE(std::count(ran.out.begin(), ran.out.end(), '\n'), 10);
}

TEST_F(Why, TextInWhichNothingIsRecognisedIsUnknown) {
  folder_.write("fine.log", "epoch 3: loss 0.1\n");
  const ProgramResult ran = ohm({"why", "fine.log"});
  EXPECT_EQ(5, ran.code);
  EXPECT_THAT(ran.err, HasSubstr("unknown: nothing in fine.log is recognised"));
  EXPECT_THAT(ran.err, HasSubstr("TensorFlow"));
}

/// As the shell of Windows writes it.
TEST_F(Why, ALogInUtf16IsExplained) {
  const std::string log = std::string("Epoch 1 ▏ 🚀\n") + kLog;
  std::string little = "\xFF\xFE";
  std::string big = "\xFE\xFF";
  for (const char16_t unit : std::u16string(u"Epoch 1 ▏ 🚀\n")) {
    little += {static_cast<char>(unit & 0xFFU), static_cast<char>(unit >> 8U)};
    big += {static_cast<char>(unit >> 8U), static_cast<char>(unit & 0xFFU)};
  }
  for (const char letter : std::string(kLog)) {
    little += {letter, '\0'};
    big += {'\0', letter};
  }
  folder_.write("plain.log", log);
  folder_.write("little.log", little);
  folder_.write("big.log", big + "\xD8");
  const std::string plain = ohm({"why", "plain.log"}).out;
  EXPECT_THAT(plain, HasSubstr("train.py:61 in main"));
  EXPECT_EQ(plain, ohm({"why", "little.log"}).out);
  EXPECT_EQ(plain, ohm({"why", "big.log"}).out);
}

constexpr const char* kLeak = R"lua(
local function run(device, steps)
  local kept = {}
  for step = 1, steps do
    local x = ohm.ones(2 * 2 ^ 20, {device = device})
    kept[step] = ohm.ones(2 ^ 20, {device = device})
    x = nil
    ohm.step()
  end
end
return ohm.scenario {
  name = "leak", summary = "A loop that keeps what it makes",
  gpu = {profile = "tiny-64m", values = false}, limits = {"num_ooms == 0"},
  problems = {
    grows = function(device) run(device, 8) end,
    fails = function(device) run(device, 40) end,
  },
}
)lua";

TEST_F(Why, WhatTheFixSavesIsComputedByReplay) {
  folder_.write("leak.lua", kLeak);
  ohm({"run", "leak.lua", "--case", "grows", "--snapshot", "grows.pickle"});
  EXPECT_THAT(test::on_one_line(ohm({"why", "grows.pickle"}).out),
              HasSubstr("Replayed with what that line makes freed at the end of its step the peak "
                        "is 12.00 MiB in place of 40.00 MiB."));
  ohm({"run", "leak.lua", "--case", "fails", "--snapshot", "fails.pickle"});
  const std::string why = test::on_one_line(ohm({"why", "fails.pickle"}).out);
  EXPECT_THAT(why, HasSubstr("Replayed with what that line makes freed at the end of its step the "
                             "request succeeds, with at most "));
}

TEST_F(Why, AFileThatIsNotThereIsAUsageError) { EXPECT_EQ(2, ohm({"why", "gone.log"}).code); }

TEST_F(Why, ASnapshotThatRanOutOfMemoryBeginsWithThat) {
  folder_.write("big.lua",
                test::scenario_with_problem(
                    "local kept = {}\n"
                    "for i = 1, 99 do kept[i] = ohm.zeros(2 ^ 20, {device = device}) end"));
  ohm({"run", "big.lua", "--snapshot", "big.pickle"});
  const ProgramResult why = ohm({"why", "big.pickle"});
  EXPECT_EQ(0, why.code) << why.err;
  EXPECT_THAT(why.out, HasSubstr("Out of memory on cuda:0: 4.00 MiB"));
  EXPECT_THAT(why.out, HasSubstr("big.lua:3"));
  const ProgramResult report = ohm({"report", "big.pickle"});
  EXPECT_THAT(report.out, HasSubstr("out of memory at event"));
  EXPECT_THAT(report.out, HasSubstr("1 scenario, 1 variant: 1 recorded"));
}

TEST_F(Why, WhatAPackageDoesHasItsLineAndModuleBehindTheProgramsOwn) {
  const ProgramResult ran = ohm({"why", test::golden_path("recorded_modules/llama.pickle")});
  EXPECT_THAT(test::on_one_line(ran.out), HasSubstr("/home/llama.py:23 ("));
}

TEST_F(Why, AResultIsExplained) {
  ASSERT_EQ(0, ohm({"run", "good.lua", "--report", "json=result.json"}).code);
  const ProgramResult ran = ohm({"why", "result.json"});
  EXPECT_EQ(0, ran.code) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("Nothing ran out of memory"));
}

TEST_F(Why, OtherCommandsPointToIt) {
  EXPECT_THAT(ohm({"explain", "crash.log"}).err, HasSubstr("ohm why crash.log explains it"));
  EXPECT_THAT(ohm({"run", "oom.pickle"}).err, HasSubstr("ohm why oom.pickle explains it"));
  EXPECT_THAT(ohm({"run", "train.py"}).err, HasSubstr("ohm exec -- python train.py"));
  EXPECT_EQ(2, ohm({"run", "train.py"}).code);
}

}  // namespace
}  // namespace ohm
