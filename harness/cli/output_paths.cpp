#include "harness/cli/output_paths.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "harness/cli/command.h"
#include "harness/process/same_file.h"

namespace ohm::cli {

namespace {

bool is_pipe_or_device(const std::string& path) {
  std::error_code unknown;
  return std::filesystem::exists(path, unknown) && !std::filesystem::is_regular_file(path, unknown);
}

void refuse_scenario_files(const std::string& option, const std::string& path) {
  const std::string extension = std::filesystem::path(path).extension();
  std::error_code unknown;
  if (extension != ".lua" && extension != ".baseline") return;
  if (!std::filesystem::exists(path, unknown)) return;
  throw UsageError(fmt::format(
      "{}: {} is a scenario or a baseline, which is never overwritten: choose another name", option,
      path));
}

}  // namespace

void OutputPaths::add(const std::string& option, const std::string& path) {
  if (path.empty() || path == "-" || is_pipe_or_device(path)) return;
  check(option, path, read_);
  // The standard output may have been sent to a file.
  if (path.starts_with("/dev/")) return;
  check(option, path, written_);
  refuse_scenario_files(option, path);
  written_.push_back(path);
}

void OutputPaths::check(const std::string& option, const std::string& path,
                        const std::vector<std::string>& taken) {
  const auto other = std::find_if(taken.begin(), taken.end(), [&](const std::string& one) {
    return engine::is_same_file(path, one);
  });
  if (other == taken.end()) return;
  throw UsageError(fmt::format("{}: this command reads or writes {} already", option, *other));
}

}  // namespace ohm::cli
