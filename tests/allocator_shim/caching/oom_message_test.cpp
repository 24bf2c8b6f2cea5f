#include "allocator_shim/caching/oom_message.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "allocator_shim/base/bytes.h"
#include "allocator_shim/caching/trace_file.h"
#include "allocator_shim/caching/trace_runner.h"
#include "allocator_shim/device/device_memory_adaptor.h"
#include "allocator_shim/device/virtual_gpu.h"
#include "tests/support/checkout_paths.h"

namespace ohm {
namespace {

/// The recorded messages: one run without NVML, one with a process of 500 MiB beside the segments.
struct Recording {
  std::string trace;
  std::vector<std::string> without_nvml;
  std::vector<std::string> with_nvml;
};

Recording read_recording() {
  std::ifstream file(std::filesystem::path(OHM_GOLDEN_DIR) / "allocator" / "oom_messages.txt");
  Recording recording;
  std::vector<std::string>* messages = &recording.without_nvml;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("## ")) {
      recording.trace += line.substr(3) + "\n";
    } else if (line.starts_with("# the same with a fake NVML")) {
      messages = &recording.with_nvml;
    } else if (!line.starts_with("#")) {
      messages->push_back(line);
    }
  }
  return recording;
}

/// A device of 8 GiB whose process takes 500 MiB that cudaMemGetInfo does not see, as recorded.
class RecordedDevice final : public DeviceMemoryAdaptor {
 public:
  RecordedDevice() : DeviceMemoryAdaptor(static_cast<DeviceMemory&>(gpu_)), gpu_(8_GiB, {}) {}
  std::vector<DeviceProcess> processes() const override {
    const DeviceMemoryInfo memory = info();
    return {{1, true, memory.total_bytes - memory.free_bytes + 500_MiB}};
  }

 private:
  VirtualGpu gpu_;
};

TEST(OutOfMemoryMessage, IsPyTorchsWithoutNvml) {
  const Recording recording = read_recording();
  const Trace trace = parse_trace(recording.trace);
  TraceRunOptions options;
  options.rules = find_rule_set("pytorch-2.6");
  TraceRunner runner(trace, options);
  std::vector<std::string> messages;
  for (const TraceOperation& operation : trace.operations) {
    const TraceRunner::Outcome outcome = runner.run(operation);
    if (outcome.status != TraceRunner::Status::out_of_memory) continue;
    messages.push_back(std::to_string(operation.line) + "\t" + outcome.message);
  }
  EXPECT_EQ(messages, recording.without_nvml);
}

TEST(OutOfMemoryMessage, IsPyTorchsWithNvml) {
  const Recording recording = read_recording();
  RecordedDevice device;
  VirtualStreams streams;
  CachingAllocatorOptions options;
  options.rules = find_rule_set("pytorch-2.6");
  CachingAllocator allocator(device, streams, options);
  std::vector<std::string> messages;
  BlockHandle freed = nullptr;
  for (const TraceOperation& operation : parse_trace(recording.trace).operations) {
    if (operation.kind == TraceOperation::Kind::set_fraction) {
      allocator.set_memory_fraction(operation.fraction);
    } else if (operation.kind == TraceOperation::Kind::free) {
      allocator.free(freed);
    } else {
      AllocationRequest request;
      request.bytes = operation.bytes;
      try {
        freed = allocator.allocate(request).block;
      } catch (const OutOfMemory& error) {
        messages.push_back(std::to_string(operation.line) + "\t" + error.what());
      }
    }
  }
  EXPECT_EQ(messages, recording.with_nvml);
}

TEST(OutOfMemoryMessage, NamesOtherProcessesAndTheVariableOfItsVersion) {
  OutOfMemoryReport report;
  report.device = 2;
  report.segment_bytes = 2_MiB;
  report.capacity_bytes = 64_MiB;
  report.reserved_bytes = 4_MiB;
  report.allocated_bytes = 1_MiB;
  const std::string message =
      out_of_memory_message(report, std::nullopt, {{77, false, 40_MiB}, {78, true, 24_MiB}},
                            find_rule_set("pytorch-2.10"));
  EXPECT_EQ(
      message,
      "CUDA out of memory. Tried to allocate 2.00 MiB. GPU 2 has a total capacity of 64.00 "
      "MiB of which 0 bytes is free. Process 77 has 40.00 MiB memory in use. Including "
      "non-PyTorch memory, this process has 24.00 MiB memory in use. Of the allocated memory "
      "1024.00 KiB is allocated by PyTorch, and 3.00 MiB is reserved by PyTorch but "
      "unallocated. If reserved but unallocated memory is large try setting "
      "PYTORCH_ALLOC_CONF=expandable_segments:True to avoid fragmentation.  See documentation "
      "for Memory Management  "
      "(https://pytorch.org/docs/stable/notes/cuda.html#environment-variables)");
}

// As printed by PyTorch 2.15.0 for recorded programs (`oom`, `oom_training_expandable`).
TEST(OutOfMemoryMessage, EndsWithTheAdviceOfItsVersion) {
  OutOfMemoryReport report;
  report.segment_bytes = 1_GiB;
  report.capacity_bytes = 8_GiB;
  report.free_bytes = 990_MiB;
  report.reserved_bytes = 7_GiB;
  report.allocated_bytes = 7_GiB;
  const RuleSet& rules = find_rule_set("pytorch-2.15");
  const std::string plain = out_of_memory_message(report, std::nullopt, {}, rules, false);
  const std::string expandable = out_of_memory_message(report, std::nullopt, {}, rules, true);
  const std::string begin =
      "CUDA out of memory. Tried to allocate 1024.00 MiB. GPU 0 has a total capacity of 8.00 GiB "
      "of "
      "which 990.00 MiB is free. Of the allocated memory 7.00 GiB is allocated by PyTorch, and 0 "
      "bytes is reserved by PyTorch but unallocated.";
  EXPECT_EQ(plain, begin +
                       " If reserved but unallocated memory is large try setting "
                       "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.  "
                       "See documentation for Memory Management  "
                       "(https://docs.pytorch.org/docs/stable/notes/"
                       "cuda.html#optimizing-memory-usage-with-pytorch-cuda-alloc-conf)");
  EXPECT_EQ(expandable,
            begin +
                " expandable_segments is enabled. If instead the process is running out "
                "of virtual address space (VSZ), expandable segments may be "
                "over-reserving VA (each segment reserves ~9/8 of device memory, times "
                "the number of streams); reduce it via PYTORCH_CUDA_ALLOC_CONF "
                "expandable_segments_reserve / expandable_segments_reserve_by_class.");
}

}  // namespace
}  // namespace ohm
