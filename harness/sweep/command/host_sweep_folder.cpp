#include "harness/sweep/command/host_sweep_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace ohm::engine {

namespace host = interpose::host;

namespace {

template <typename Record>
std::vector<Record> read_records(const std::string& path, std::size_t offset, std::size_t count) {
  std::vector<Record> records(count);
  std::ifstream stream(path, std::ios::binary);
  stream.seekg(static_cast<std::streamoff>(offset));
  stream.read(reinterpret_cast<char*>(records.data()),
              static_cast<std::streamsize>(count * sizeof(Record)));
  return records;
}

}  // namespace

HostSweepFolder::HostSweepFolder() {
  const std::string trace = file(host::kTraceFile);
  std::ofstream(trace, std::ios::binary).close();
  std::error_code error;
  // It takes no room until something is written to it.
  std::filesystem::resize_file(trace, host::kTracedRequests * sizeof(host::TracedRequest), error);
  if (error) throw std::invalid_argument(fmt::format("{}: {}", trace, error.message()));
}

void HostSweepFolder::write_control(host::SweepRun run, std::uint32_t copy_milliseconds,
                                    const std::vector<host::SweptFault>& faults) const {
  host::SweepControl control;
  control.run = run;
  control.copy_milliseconds = copy_milliseconds;
  control.fault_count = faults.size();
  const std::string path = file(host::kControlFile);
  std::ofstream stream(path, std::ios::binary | std::ios::trunc);
  stream.write(reinterpret_cast<const char*>(&control), sizeof(control));
  stream.write(reinterpret_cast<const char*>(faults.data()),
               static_cast<std::streamsize>(faults.size() * sizeof(host::SweptFault)));
  if (!stream.flush()) throw std::invalid_argument(fmt::format("{} cannot be written", path));
}

host::SweepControl HostSweepFolder::read_control() const {
  return read_records<host::SweepControl>(file(host::kControlFile), 0, 1).front();
}

std::vector<host::SweptFault> HostSweepFolder::read_faults(std::size_t count) const {
  return read_records<host::SweptFault>(file(host::kControlFile), sizeof(host::SweepControl),
                                        count);
}

std::vector<host::TracedRequest> HostSweepFolder::read_trace(std::size_t count) const {
  return read_records<host::TracedRequest>(file(host::kTraceFile), 0,
                                           std::min(count, host::kTracedRequests));
}

}  // namespace ohm::engine
