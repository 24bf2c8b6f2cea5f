#include "harness/exec/cuda_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "reports/text/json_text.h"

namespace ohm::engine {

namespace {

using nlohmann::json;

/// Calls `add(row)` for each row of a list of numbers.
template <typename Add>
void each_row(const json& numbers, std::size_t columns, const Add& add) {
  for (std::size_t i = 0; i + columns <= numbers.size(); i += columns) {
    add([&numbers, i](std::size_t column) { return numbers[i + column].get<std::uint64_t>(); });
  }
}

void read_cuda_stacks(const json& file, CudaRecord& record) {
  auto modules = file.at("modules").get<std::vector<std::string>>();
  // The loader's name for the program is nothing.
  std::replace(modules.begin(), modules.end(), std::string(), record.program);
  for (const json& row : file.at("stacks")) {
    record.stacks.push_back(frames_of(row.at("frames"), modules));
  }
}

void read_cuda_devices(const json& file, CudaRecord& record) {
  for (const json& row : file.at("devices")) {
    record.devices.push_back({row.at("ooms"), row.at("capacity_bytes"), row.at("allocated_bytes"),
                              row.at("peak_allocated_bytes"), row.at("peak_reserved_bytes"),
                              row.at("segments")});
  }
}

void read_cuda_memory(const json& file, CudaRecord& record) {
  each_row(file.at("events"), 6, [&](const auto& at) {
    record.events.push_back(
        {static_cast<CudaEvent::Action>(at(0)), at(1), at(2), at(3), at(4), at(5) != 0});
  });
  each_row(file.at("blocks"), 4, [&](const auto& at) {
    record.blocks.push_back({at(0), at(1), at(2), at(3)});
  });
  each_row(file.at("segments"), 3, [&](const auto& at) {
    record.segments.push_back({at(0), at(1), at(2), 0});
  });
  each_row(file.at("misuses"), 8, [&](const auto& at) {
    record.misuses.push_back({static_cast<CudaMisuse::Kind>(at(0)), at(1),
                              static_cast<std::int64_t>(at(2)), at(3), at(4), at(5), at(6),
                              static_cast<std::int64_t>(at(7))});
  });
}

CudaRecord cuda_record_of(const json& file) {
  CudaRecord record;
  record.pid = file.at("pid");
  record.program = file.at("program");
  record.arguments = file.at("arguments").get<std::vector<std::string>>();
  record.folder = file.at("folder");
  record.has_ended = file.at("ended");
  record.signal = file.at("signal");
  record.most_events = file.at("most_events");
  record.dropped = file.at("dropped");
  read_cuda_stacks(file, record);
  read_cuda_devices(file, record);
  read_cuda_memory(file, record);
  return record;
}

}  // namespace

CudaRecord read_cuda_record(const std::string& path) {
  try {
    std::ifstream stream(path, std::ios::binary);
    return cuda_record_of(reports::parse_json(stream));
  } catch (const json::exception& error) {
    throw std::invalid_argument(fmt::format("{}: {}", path, error.what()));
  } catch (const std::out_of_range& error) {
    throw std::invalid_argument(fmt::format("{}: {}", path, error.what()));
  }
}

}  // namespace ohm::engine
