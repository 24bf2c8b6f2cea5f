// Streams and events, as scripts use them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/harness/lua/script_test.h"

namespace ohm::test {
namespace {

class Streams : public ScriptTest {
 protected:
  Streams() : ScriptTest({.gpus = 2, .cublas_workspace_bytes = 8'519'680}) {}

  void expect_no_error(const std::string& chunk) {
    EXPECT_EQ(
        error_of("local cuda = ohm.cuda\n"
                 "local function block() return ohm.empty(30 << 20, {device = 'cuda'}) end\n" +
                 chunk),
        "");
  }
};

TEST_F(Streams, AreCurrentForTheTimeOfAFunctionOrABlock) {
  expect_no_error(
      "local s = cuda.Stream()\n"
      "assert(cuda.current_stream() == cuda.default_stream())\n"
      "cuda.stream(s, function() assert(cuda.current_stream() == s) end)\n"
      "do local _ <close> = cuda.stream(s) assert(cuda.current_stream() == s) end\n"
      "assert(cuda.current_stream() ~= s)\n"
      "cuda.stream(nil, function() assert(cuda.current_stream() ~= s) end)\n"
      "cuda.set_stream(s) assert(cuda.current_stream() == s)");
}

TEST_F(Streams, BelongToOneGpu) {
  expect_no_error(
      "local s = cuda.Stream(1)\n"
      "assert(s.device == 'cuda:1' and cuda.Stream({device = 'cuda:1'}).device == 'cuda:1')\n"
      "cuda.stream(s, function()\n"
      "  assert(cuda.current_device() == 1)\n"
      "  assert(cuda.current_stream(0) == cuda.default_stream(0))\n"
      "end)\n"
      "assert(cuda.current_device() == 0)");
}

TEST_F(Streams, HaveBlocksOfTheirOwn) {
  expect_no_error(
      "local s, a = cuda.Stream(), block()\n"
      "a = nil\n"
      "local before = cuda.memory_reserved()\n"
      "cuda.stream(s, function() a = block() end)\n"
      "assert(cuda.memory_reserved() == 2 * before)");
}

TEST_F(Streams, ComeFromAPoolOf32) {
  expect_no_error(
      "local first = cuda.Stream()\n"
      "for _ = 2, 32 do assert(cuda.Stream() ~= first) end\n"
      "assert(cuda.Stream() == first)\n"
      "assert(cuda.Stream(1) ~= first)");
}

constexpr const char* kRecorded =
    "local s = cuda.Stream()\n"
    "local a = block()\n"
    "local reserved = cuda.memory_reserved()\n"
    "local function reuses() local b = block() return cuda.memory_reserved() == reserved end\n";

TEST_F(Streams, HoldARecordedBlockUntilTheyHaveCaughtUp) {
  expect_no_error(std::string(kRecorded) + "a:record_stream(s) a = nil\nassert(reuses())");
  expect_no_error(std::string(kRecorded) +
                  "cuda.stream(s, function() cuda._sleep(1000) end)\n"
                  "a:record_stream(s) a = nil\n"
                  "assert(not reuses())");
}

TEST_F(Streams, CatchUpWhenTheProgramWaits) {
  for (const char* wait :
       {"s:synchronize()", "cuda.synchronize()", "e:synchronize()",
        "cuda.current_stream():wait_stream(s) cuda.current_stream():synchronize()",
        "e:wait() cuda.default_stream():synchronize()"}) {
    SCOPED_TRACE(wait);
    expect_no_error(std::string(kRecorded) +
                    "cuda.stream(s, function() cuda._sleep(1000) end)\n"
                    "a:record_stream(s) a = nil\n"
                    "cuda.memory_allocated()\n"
                    "local e = s:record_event()\n"
                    "assert(not e:query() and not s:query())\n" +
                    wait +
                    "\nassert(e:query() and s:query())\n"
                    "assert(reuses())");
  }
}

TEST_F(Streams, EventsCanBeRecordedAgain) {
  expect_no_error(
      "local s, e = cuda.Stream(), cuda.Event({enable_timing = true})\n"
      "assert(e:query())\n"
      "cuda.stream(s, function() e:record() cuda._sleep(1) end)\n"
      "assert(e:query())\n"
      "e:record(s) assert(not e:query())\n"
      "e:synchronize() assert(e:query())");
}

// One workspace for each stream that the handle was used on, where workspaces stay.
TEST_F(Streams, HaveTheirOwnWorkspaces) {
  machine_.context().rules = find_rule_set("pytorch-2.6");
  expect_no_error(
      "local x = ohm.randn(8, 8, {device = 'cuda'})\n"
      "local before = cuda.memory_allocated()\n"
      "x:mm(x)\n"
      "assert(cuda.memory_allocated() == before + 8519680)\n"
      "cuda.stream(cuda.Stream(), function() x:mm(x) end)\n"
      "assert(cuda.memory_allocated() == before + 2 * 8519680)");
}

// Backward runs on the streams of the forward pass; a gradient that crosses over stays until the
// stream that it crosses to has caught up.
TEST_F(Streams, AreThoseOfTheForwardPassInBackward) {
  expect_no_error(
      "local s = cuda.Stream()\n"
      "local x = ohm.randn(1 << 20, {device = 'cuda', requires_grad = true})\n"
      "local y\n"
      "cuda.stream(s, function() y = x:exp() end)\n"
      "local loss = (y * 2):sum()\n"
      "loss:backward()\n"
      "assert(cuda.current_stream() == cuda.default_stream())\n"
      "assert(x.grad ~= nil)");
}

TEST_F(Streams, SayWhatIsWrong) {
  struct Row {
    const char* chunk;
    const char* message;
  };
  constexpr Row kRows[] = {
      {"ohm.cuda.Stream('cpu')", "[Stream] argument 'device' must be a GPU, got \"cpu\""},
      {"ohm.cuda.Stream(7)", "cuda:7 does not exist"},
      {"ohm.cuda.Stream({prio = 1})", "[Stream] has no argument 'prio'"},
      {"ohm.cuda.stream(3)", "[stream] argument 'stream' must be of type stream, got 3"},
      {"ohm.cuda.Stream():wait(1)", "[Stream] has no 'wait'"},
      {"ohm.cuda.Stream():wait_event(ohm.cuda.Stream())",
       "[wait_event] argument 'event' must be of type event, got stream"},
      {"ohm.cuda.Event():elapsed()", "[Event] has no 'elapsed'"},
      {"ohm.ones(2, {device = 'cuda:1'}):record_stream(ohm.cuda.Stream())",
       "[record_stream] the tensor is on cuda:1, the stream on cuda:0"},
      {"ohm.ones(2):record_stream(ohm.cuda.Stream())",
       "[record_stream] the tensor is on cpu, the stream on cuda:0"},
  };
  for (const Row& row : kRows) EXPECT_THAT(error_of(row.chunk), testing::HasSubstr(row.message));
}

}  // namespace
}  // namespace ohm::test
