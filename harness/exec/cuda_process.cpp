#include "harness/exec/cuda_process.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string_view>

#include "allocator_shim/interpose/device_record.h"
#include "allocator_shim/snapshot/snapshot_writer.h"
#include "harness/exec/cuda_snapshot.h"

namespace ohm::engine {

namespace {

void write_snapshot_to(const std::string& path, const Snapshot& snapshot) {
  std::ofstream stream(path, std::ios::binary);
  write_snapshot(snapshot, [&](std::string_view bytes) {
    stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  });
  if (!stream.flush()) throw std::invalid_argument(path + " cannot be written");
}

void read_process(const std::string& path, CudaProcess& process) {
  process.record = read_cuda_record(path);
  // One that failed a request has told what matters; others are lost with their end.
  if (!process.record.has_ended && !process.record.is_out_of_memory()) return;
  const CudaSnapshot shown = cuda_snapshot(process.record);
  process.findings = cuda_findings(process.record, shown);
  const std::string snapshot = std::filesystem::path(path).replace_extension(".pickle");
  write_snapshot_to(snapshot, shown.snapshot);
  process.snapshot = snapshot;
}

}  // namespace

CudaProcess cuda_process(const std::string& path) {
  CudaProcess process;
  process.record.pid = cuda_process_of(std::filesystem::path(path).stem());
  try {
    read_process(path, process);
  } catch (const std::invalid_argument& error) {
    process.problem = error.what();
  }
  return process;
}

std::string cuda_record_stem(int process) {
  return fmt::format("{}-{}", interpose::kDeviceRecordName, process);
}

int cuda_process_of(const std::string& stem) {
  const std::string start = fmt::format("{}-", interpose::kDeviceRecordName);
  if (!stem.starts_with(start)) return 0;
  int process = 0;
  std::from_chars(stem.data() + start.size(), stem.data() + stem.size(), process);
  return process;
}

}  // namespace ohm::engine
