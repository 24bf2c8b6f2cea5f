#include "harness/exec/host_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>

#include "harness/exec/function_names.h"
#include "harness/exec/unwritten_records.h"
#include "reports/text/json_text.h"

namespace ohm::engine {

namespace {

using nlohmann::json;

std::uint64_t point_in(const std::string& digits) {
  std::uint64_t point = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), point, 16);
  return point;
}

HostSite site_of(const json& row, const std::vector<std::string>& modules) {
  HostSite site;
  site.point = point_in(row.at("point"));
  site.requests = row.at("requests");
  site.peak_bytes = row.at("peak_bytes");
  site.peak_blocks = row.at("peak_blocks");
  site.failure_bytes = row.at("failure_bytes");
  site.failure_blocks = row.at("failure_blocks");
  site.frames = frames_of(row.at("frames"), modules);
  return site;
}

HostRecord record_of(const json& file) {
  HostRecord record;
  record.pid = file.at("pid");
  record.parent = file.at("parent");
  record.program = file.at("program");
  record.arguments = file.at("arguments").get<std::vector<std::string>>();
  record.has_ended = file.at("ended");
  record.requests = file.at("requests");
  record.failed = file.at("failed");
  record.live_bytes = file.at("live_bytes");
  record.peak_bytes = file.at("peak_bytes");
  auto modules = file.at("modules").get<std::vector<std::string>>();
  // The loader's name for the program is nothing.
  std::replace(modules.begin(), modules.end(), std::string(), record.program);
  for (const json& row : file.at("sites")) record.sites.push_back(site_of(row, modules));
  if (!file.contains("failure")) return record;
  const json& failure = file.at("failure");
  record.failure = {failure.at("is_limit"), failure.at("request"), failure.at("bytes"),
                    failure.at("live_bytes"), frames_of(failure.at("frames"), modules)};
  return record;
}

/// Of "host-1234".
int process_of(std::string_view stem) {
  int process = 0;
  const std::size_t dash = std::min(stem.find('-'), stem.size() - 1);
  std::from_chars(stem.data() + dash + 1, stem.data() + stem.size(), process);
  return process;
}

/// Functions that allocate for others: what called them says more.
bool allocates_for_others(std::string_view function) {
  constexpr std::array<std::string_view, 6> kWords = {"alloc",    "operator new", "strdup",
                                                      "asprintf", "memdup",       "strndup"};
  std::string lower(function);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::any_of(kWords.begin(), kWords.end(),
                     [&](std::string_view word) { return lower.find(word) != std::string::npos; });
}

}  // namespace

std::vector<HostFrame> frames_of(const json& numbers, const std::vector<std::string>& modules) {
  std::vector<HostFrame> frames;
  for (std::size_t i = 0; i + 1 < numbers.size(); i += 2) {
    const std::size_t module = numbers[i];
    frames.push_back({module == 0 ? "" : modules.at(module - 1), numbers[i + 1]});
  }
  return frames;
}

HostRecord read_host_record(const std::string& path) {
  try {
    std::ifstream stream(path, std::ios::binary);
    return record_of(reports::parse_json(stream));
  } catch (const json::exception& error) {
    throw std::invalid_argument(fmt::format("{}: {}", path, error.what()));
  } catch (const std::out_of_range& error) {
    throw std::invalid_argument(fmt::format("{}: {}", path, error.what()));
  }
}

std::vector<HostRecord> read_host_records(const std::string& folder) {
  std::vector<HostRecord> records;
  std::error_code gone;  // the command may remove what it finds
  for (const auto& entry : std::filesystem::directory_iterator(folder, gone)) {
    if (entry.path().extension() != ".json") continue;
    try {
      records.push_back(read_host_record(entry.path()));
    } catch (const std::invalid_argument&) {
      records.emplace_back().pid = process_of(entry.path().stem().string());
    }
  }
  for (const auto& [stem, why] : unwritten_records(folder)) {
    HostRecord& record = records.emplace_back();
    record.pid = process_of(stem);
    record.unwritten = why;
  }
  std::sort(records.begin(), records.end(),
            [](const HostRecord& a, const HostRecord& b) { return a.pid < b.pid; });
  return records;
}

std::string function_of(const HostFrame& frame, ProgramFunctions& functions) {
  if (frame.module.empty()) return "code made by the program";
  // The address is where the call returns to: that may be another function's.
  const std::string name = functions.of(frame.module).name_at(frame.address - 1);
  if (!name.empty()) return name;
  return fmt::format("{}+{:#x}", std::filesystem::path(frame.module).filename().string(),
                     frame.address);
}

HostPlace place_of(const std::vector<HostFrame>& frames, ProgramFunctions& functions) {
  for (const HostFrame& frame : frames) {
    const std::string function = function_of(frame, functions);
    if (!allocates_for_others(function) || &frame == &frames.back()) {
      return {function, std::filesystem::path(frame.module).filename()};
    }
  }
  return {"a function that is not known", ""};
}

}  // namespace ohm::engine
