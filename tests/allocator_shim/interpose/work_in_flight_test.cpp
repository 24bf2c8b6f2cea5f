// Work that is not complete yet (OHM_IN_FLIGHT), in a program that a test tells what to call.
#include <gtest/gtest.h>

#include <string>

#include "tests/allocator_shim/interpose/served_program.h"

namespace ohm::interpose {
namespace {

constexpr const char* kReady = "0";
constexpr const char* kNotReady = "600";

class InFlight : public testing::Test {
 protected:
  std::string operator()(const std::string& command) { return program_(command); }
  /// All of them succeed.
  void done(const std::initializer_list<const char*>& commands) {
    for (const char* command : commands) EXPECT_EQ(program_(command), "0") << command;
  }
  void times(int count, const char* command) {
    for (int i = 0; i < count; ++i) done({command});
  }

  static constexpr int kCalls = 4;
  ServedProgram program_ =
      ServedProgram({{"OHM_GPU", "tiny-64m"}, {"OHM_IN_FLIGHT", std::to_string(kCalls)}});
};

TEST_F(InFlight, WorkIsCompleteAfterSoManyCallsOnItsStream) {
  done({"launch 1", "record 1 1"});
  times(kCalls - 1, "launch 1");
  // Work of another stream is none of it.
  times(kCalls, "launch 2");
  EXPECT_EQ(program_("event 1"), kNotReady);
}

TEST_F(InFlight, WorkIsCompleteAfterOneCallMore) {
  done({"launch 1", "record 1 1"});
  times(kCalls, "launch 1");
  EXPECT_EQ(program_("event 1"), kReady);
  EXPECT_EQ(program_("stream 1"), kNotReady);
}

TEST_F(InFlight, EveryKindOfWorkCounts) {
  for (const char* work : {"launch 1", "fill 1", "read_pinned 1"}) {
    done({work});
    EXPECT_EQ(program_("stream 1"), kNotReady) << work;
    done({"wait_stream 1"});
    EXPECT_EQ(program_("stream 1"), kReady) << work;
  }
}

TEST_F(InFlight, TheDriverAnswersAlike) {
  done({"launch 1", "record 1 1"});
  EXPECT_EQ(program_("driver_event 1"), kNotReady);
  EXPECT_EQ(program_("driver_stream 1"), kNotReady);
  done({"wait_context"});
  EXPECT_EQ(program_("driver_event 1"), kReady);
  EXPECT_EQ(program_("driver_stream 1"), kReady);
}

TEST_F(InFlight, AnEventThatNothingComesBeforeIsComplete) {
  EXPECT_EQ(program_("event 1"), kReady);
  done({"record 1 1"});
  EXPECT_EQ(program_("event 1"), kReady);
}

TEST_F(InFlight, WhatIsWaitedForIsComplete) {
  for (const char* wait :
       {"wait_event 1", "wait_stream 1", "wait_device", "wait_context", "read 1", "call 1"}) {
    done({"launch 1", "record 1 1"});
    EXPECT_EQ(program_("event 1"), kNotReady) << wait;
    done({wait});
    EXPECT_EQ(program_("event 1"), kReady) << wait;
  }
}

TEST_F(InFlight, FreeingMemoryWaitsForItsGpu) {
  done({"take 0 1", "launch 1", "record 1 1", "launch 2", "record 2 2"});
  EXPECT_EQ(program_("event 1"), kNotReady);
  done({"drop"});
  EXPECT_EQ(program_("event 1"), kReady);
  EXPECT_EQ(program_("event 2"), kReady);
}

TEST_F(InFlight, AnEventIsWaitedForAndNotWhatCameLater) {
  done({"launch 1", "record 1 1", "launch 1", "record 2 1", "wait_event 1"});
  EXPECT_EQ(program_("event 1"), kReady);
  EXPECT_EQ(program_("event 2"), kNotReady);
}

TEST_F(InFlight, WhoAsksAgainAndAgainGetsThere) {
  done({"launch 1", "record 1 1"});
  for (int i = 0; i < kCalls; ++i) EXPECT_EQ(program_("event 1"), kNotReady);
  EXPECT_EQ(program_("event 1"), kReady);
}

TEST_F(InFlight, AStreamThatWaitsForAnEventIsNotFasterThanIt) {
  done({"launch 1", "record 1 1", "order 2 1", "launch 2", "record 2 2"});
  times(kCalls, "launch 2");
  EXPECT_EQ(program_("event 2"), kNotReady);
  done({"wait_event 1"});
  EXPECT_EQ(program_("event 2"), kReady);
}

TEST_F(InFlight, AnEventBehindNothingButAWaitIsAboutWhatWasWaitedFor) {
  done({"launch 1", "record 1 1", "order 2 1", "record 2 2"});
  EXPECT_EQ(program_("event 2"), kNotReady);
  done({"wait_stream 1"});
  EXPECT_EQ(program_("event 2"), kReady);
}

TEST_F(InFlight, WaitingForAStreamWaitsForWhatItWaitsFor) {
  done({"launch 1", "record 1 1", "order 2 1", "launch 2", "wait_stream 2"});
  EXPECT_EQ(program_("event 1"), kReady);
}

TEST_F(InFlight, WorkBeforeAWaitIsNotHeldUpByIt) {
  done({"launch 2", "record 2 2", "launch 1", "record 1 1", "order 2 1"});
  times(kCalls, "launch 2");
  EXPECT_EQ(program_("event 2"), kReady);
  EXPECT_EQ(program_("event 1"), kNotReady);
}

TEST_F(InFlight, StreamsThatWaitForEachOtherInTurnEnd) {
  for (int i = 0; i < 200; ++i) {
    done({"launch 1", "record 1 1", "order 2 1", "launch 2", "record 2 2", "order 1 2"});
  }
  times(kCalls, "launch 1");
  times(kCalls, "launch 2");
  EXPECT_EQ(program_("event 2"), kReady);
}

TEST_F(InFlight, ABlockingStreamWaitsForTheDefaultOne) {
  done({"launch 0", "record 1 0", "launch 3", "record 3 3"});
  times(kCalls, "launch 3");
  EXPECT_EQ(program_("event 3"), kNotReady);
  done({"wait_event 1"});
  EXPECT_EQ(program_("event 3"), kReady);
}

TEST_F(InFlight, ACopyToTheHostWaitsForBlockingStreamsAlone) {
  done({"launch 3", "record 3 3", "launch 1", "record 1 1", "copy"});
  EXPECT_EQ(program_("event 3"), kReady);
  EXPECT_EQ(program_("event 1"), kNotReady);
}

TEST_F(InFlight, TimeIsMeasuredWhenBothEventsAreComplete) {
  done({"record 1 1", "launch 1", "record 2 1"});
  EXPECT_EQ(program_("elapsed 1 2"), kNotReady);
  done({"wait_event 2"});
  EXPECT_EQ(program_("elapsed 1 2"), kReady);
}

TEST_F(InFlight, AStreamThatIsGoneLeavesNothingOpen) {
  done({"launch 1", "record 1 1", "destroy 1"});
  EXPECT_EQ(program_("event 1"), kReady);
}

TEST(NothingInFlight, WithoutTheVariableOrWithBlockingLaunchesWorkIsComplete) {
  ServedProgram without(ServedProgram::Variables{{"OHM_GPU", "tiny-64m"}});
  ServedProgram zero({{"OHM_GPU", "tiny-64m"}, {"OHM_IN_FLIGHT", "0"}});
  ServedProgram blocking(
      {{"OHM_GPU", "tiny-64m"}, {"OHM_IN_FLIGHT", "4"}, {"CUDA_LAUNCH_BLOCKING", "1"}});
  for (ServedProgram* program : {&without, &zero, &blocking}) {
    EXPECT_EQ((*program)("launch 1"), "0");
    EXPECT_EQ((*program)("record 1 1"), "0");
    EXPECT_EQ((*program)("event 1"), kReady);
    EXPECT_EQ((*program)("stream 1"), kReady);
  }
}

}  // namespace
}  // namespace ohm::interpose
