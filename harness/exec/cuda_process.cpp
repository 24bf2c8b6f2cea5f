#include "harness/exec/cuda_process.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string_view>

#include "allocator_shim/snapshot/snapshot_writer.h"
#include "harness/exec/cuda_record.h"
#include "harness/exec/cuda_snapshot.h"

namespace ohm::engine {

namespace {

void take_cuda_devices(const CudaRecord& from, ProcessRecord& record) {
  for (const CudaDevice& device : from.devices) {
    RecordedDevice& recorded = record.devices.emplace_back();
    recorded.capacity_bytes = device.capacity_bytes;
    recorded.peak_allocated_bytes = device.peak_allocated_bytes;
    recorded.peak_reserved_bytes = device.peak_reserved_bytes;
    recorded.allocated_at_end_bytes = device.allocated_bytes;
    recorded.num_ooms = device.ooms;
    recorded.num_device_alloc = device.segments;
  }
}

void write_snapshot_to(const std::string& path, const Snapshot& snapshot) {
  std::ofstream stream(path, std::ios::binary);
  write_snapshot(snapshot, [&](std::string_view bytes) {
    stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  });
  if (!stream.flush()) throw std::invalid_argument(path + " cannot be written");
}

void take_cuda_record(const std::string& path, ProcessRecord& record) {
  const CudaRecord from = read_cuda_record(path);
  record.pid = from.pid;
  record.arguments = from.arguments;
  record.folder = from.folder;
  record.has_ended = from.has_ended;
  record.most_events = from.most_events;
  take_cuda_devices(from, record);
  // One that failed a request has told what matters; others are lost with their end.
  if (!from.has_ended && !from.is_out_of_memory()) return;
  const CudaSnapshot shown = cuda_snapshot(from);
  record.findings = cuda_findings(from, shown);
  const std::string snapshot = std::filesystem::path(path).replace_extension(".pickle");
  write_snapshot_to(snapshot, shown.snapshot);
  record.snapshot = snapshot;
}

}  // namespace

ProcessRecord cuda_process_record(const std::string& path) {
  ProcessRecord record;
  record.is_native = true;
  record.pid = cuda_process_of(std::filesystem::path(path).stem());
  try {
    take_cuda_record(path, record);
  } catch (const std::invalid_argument& error) {
    record.problems.emplace_back(error.what());
  }
  return record;
}

int cuda_process_of(const std::string& stem) {
  const std::string_view start = kCudaRecordStart;
  if (!stem.starts_with(start)) return 0;
  int process = 0;
  std::from_chars(stem.data() + start.size(), stem.data() + stem.size(), process);
  return process;
}

}  // namespace ohm::engine
