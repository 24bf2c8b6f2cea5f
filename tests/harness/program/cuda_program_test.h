// Tests of the real program on the stand-in driver: a machine with cards.
#pragma once

#include <array>
#include <cstdlib>
#include <string>

#include "tests/harness/program/program_test.h"

namespace ohm::test {

/// The problem takes two segments of 20 MiB, the mitigation one.
inline constexpr const char* kTwoSegments = R"lua(
local function run(device, count)
  local kept = {}
  for i = 1, count do kept[i] = ohm.zeros(4 * 1024 * 1024, {device = device}) end
  return {one = kept[1]:sum()}
end
return ohm.scenario {
  name = "segments", summary = "Two tensors of 16 MiB or one",
  gpu = {profile = "tiny-64m"}, limits = {"peak_allocated_bytes <= 20 MiB"},
  problems = {two = function(device) return run(device, 2) end},
  mitigations = {one = function(device) return run(device, 1) end},
  controls = {small = {run = function(device) ohm.zeros(1, {device = device}) end}},
}
)lua";

class CudaProgramTest : public ProgramTest {
 protected:
  static constexpr std::array kLibraries = {"OHM_CUDA_DRIVER", "OHM_NVML",  "OHM_CUBLAS",
                                            "OHM_CUBLASLT",    "OHM_CUDNN", "OHM_NCCL"};

  void SetUp() override {
    folder_.write("segments.lua", kTwoSegments);
    for (const char* name : kLibraries) ::setenv(name, OHM_STAND_IN_DRIVER, 1);
    machine_is("devices=2 capacity=134217728");
  }
  void TearDown() override {
    for (const char* name : kLibraries) ::unsetenv(name);
    ::unsetenv("OHM_STAND_IN");
  }
  static void machine_is(const std::string& words) {
    ::setenv("OHM_STAND_IN", ("strict=1 " + words).c_str(), 1);
  }
};

}  // namespace ohm::test
