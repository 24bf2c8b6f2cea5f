// Faults of calls by plan: how each kind fails, and which calls fail afterwards. Each plan is of a
// process of its own: this program, which calls functions and prints what they return.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <string>

#include "allocator_shim/interpose/fault_trace.h"

namespace ohm::interpose {
namespace {

/// What functions of CUDA return in this order, in a process with this plan, which is killed after
/// so many seconds.
std::string results_under(const std::string& plan, const std::string& names,
                          const std::string& variables = "", int seconds = 20) {
  const std::string command = "OHM_FAULT='" + plan + "' " + variables + " timeout -s KILL " +
                              std::to_string(seconds) + " /proc/" + std::to_string(getpid()) +
                              "/exe --call " + names;
  FILE* const output = popen(command.c_str(), "r");
  std::array<char, 200> line = {};
  if (output == nullptr) return {};
  if (std::fgets(line.data(), line.size(), output) == nullptr) line.front() = '\0';
  pclose(output);
  return line.data();
}

struct Case {
  const char* error;
  const char* results;
};

TEST(CallFaults, EachErrorHasItsCode) {
  for (const Case& one :
       {Case{"memory", "0 2 0\n"}, Case{"not_ready", "0 600 0\n"},
        Case{"illegal_address", "0 700 700\n"}, Case{"launch_failure", "0 719 719\n"},
        Case{"launch_timeout", "0 702 702\n"}, Case{"ecc_uncorrectable", "0 214 214\n"},
        Case{"device_lost", "0 999 999\n"}}) {
    const std::string plan =
        std::string("call(cudaDeviceSynchronize) & nth(2) -> error(") + one.error + ")";
    EXPECT_EQ(results_under(plan, "cudaDeviceSynchronize cudaDeviceSynchronize cudaMemGetInfo"),
              one.results)
        << one.error;
  }
}

TEST(CallFaults, StickyErrorsStayWhereverTheContextIsUsed) {
  const std::string plan = "call(cudaDeviceSynchronize) -> error(illegal_address)";
  EXPECT_EQ(results_under(plan,
                          "cudaDeviceSynchronize cudaGetLastError cudaGetLastError "
                          "cudaStreamCreate cublasCreate_v2 cuInit cuCtxSynchronize "
                          "cudaGetDevice"),
            "700 700 700 700 13 0 700 0\n");
}

TEST(CallFaults, OthersAreForgottenOnceTheyAreTold) {
  EXPECT_EQ(results_under("call(cudaStreamCreate) -> error(memory)",
                          "cudaStreamCreate cudaGetLastError cudaGetLastError cudaStreamCreate"),
            "2 2 0 0\n");
}

TEST(CallFaults, ErrorsOfWorkShowInTheNextCall) {
  const std::string plan = "call(cudaMemsetAsync) -> error(illegal_address)";
  EXPECT_EQ(results_under(plan, "cudaMemsetAsync cudaDeviceSynchronize"), "0 700\n");
  EXPECT_EQ(results_under(plan, "cudaMemsetAsync cudaDeviceSynchronize", "CUDA_LAUNCH_BLOCKING=1"),
            "700 700\n");
}

TEST(CallFaults, LibrariesHaveCodesOfTheirOwn) {
  EXPECT_EQ(results_under("call(cublasCreate_v2) -> error(memory)", "cublasCreate_v2"), "3\n");
  EXPECT_EQ(results_under("call(cudnnCreate) -> error(memory)", "cudnnCreate cudnnCreate"),
            "4003 0\n");
  EXPECT_EQ(results_under("call(ncclGroupStart) -> error(remote_error)", "ncclGroupStart"), "6\n");
  EXPECT_EQ(results_under("call(ncclGroupStart) -> error(system_error)", "ncclGroupStart"), "2\n");
  EXPECT_EQ(results_under("call(ncclGroupStart) -> error(memory)", "ncclGroupStart"), "1\n");
}

TEST(CallFaults, NvmlDoesNotFindADeviceThatIsLost) {
  constexpr const char* kNames =
      "cudaDeviceSynchronize nvmlInit_v2 nvmlDeviceGetCount_v2 nvmlDeviceGetMemoryInfo_first";
  EXPECT_EQ(results_under("call(cudaDeviceSynchronize) -> error(device_lost)", kNames),
            "999 0 0 15\n");
  EXPECT_EQ(results_under("call(cudaDeviceSynchronize) -> error(illegal_address)", kNames),
            "700 0 0 0\n");
}

TEST(CallFaults, PinnedMemoryFails) {
  EXPECT_EQ(results_under("call(cudaMallocHost) & nth(2) -> error(memory)",
                          "cudaMallocHost cudaMallocHost cudaMallocHost"),
            "0 2 0\n");
}

TEST(CallFaults, FollowEachOther) {
  EXPECT_EQ(results_under("call(cudaStreamCreate) -> error(not_ready) -> call(cudaEventCreate) & "
                          "nth(1) -> error(memory)",
                          "cudaEventCreate cudaStreamCreate cudaEventCreate cudaEventCreate"),
            "0 600 2 0\n");
}

TEST(CallFaults, HangsAndIsSlow) {
  EXPECT_EQ(results_under("call(cudaDeviceSynchronize) -> error(slow)", "cudaDeviceSynchronize"),
            "0\n");
  EXPECT_EQ(
      results_under("call(cudaDeviceSynchronize) -> error(hang)", "cudaDeviceSynchronize", "", 2),
      "");
}

TEST(CallFaults, MayKillTheProcess) {
  EXPECT_EQ(results_under("call(cudaDeviceSynchronize) -> error(killed)", "cudaDeviceSynchronize"),
            "");
}

TEST(CallFaults, HappenOnceForProcessesThatShareATrace) {
  const std::string path = testing::TempDir() + "fault_trace_" + std::to_string(getpid());
  std::ofstream(path) << std::string(sizeof(FaultTrace), '\0');
  const std::string plan = "call(cudaDeviceSynchronize) -> error(memory)";
  const std::string variable = std::string(kFaultTraceVariable) + "=" + path;
  EXPECT_EQ(results_under(plan, "cudaDeviceSynchronize", variable + " RANK=1"), "0\n");
  EXPECT_EQ(results_under(plan, "cudaDeviceSynchronize", variable), "2\n");
  EXPECT_EQ(results_under(plan, "cudaDeviceSynchronize", variable), "0\n");
  std::remove(path.c_str());
}

TEST(CallFaults, SegmentsAreNotCountedAsCalls) {
  EXPECT_EQ(results_under("nth(1)", "cudaDeviceSynchronize cudaStreamCreate"), "0 0\n");
}

}  // namespace
}  // namespace ohm::interpose
