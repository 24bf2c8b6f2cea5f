#include "harness/cli/output_paths.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "harness/cli/command.h"

namespace ohm::cli {

namespace {

namespace fs = std::filesystem;

/// Of files that are there, and of those that will be.
bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code unknown;
  if (fs::equivalent(a, b, unknown)) return true;
  const fs::path canonical = fs::weakly_canonical(a, unknown);
  return !unknown && canonical == fs::weakly_canonical(b, unknown);
}

}  // namespace

void OutputPaths::add(const std::string& option, const std::string& path) {
  if (path.empty() || path == "-" || path.starts_with("/dev/")) return;
  for (const std::string& other : taken_) {
    if (!is_same_file(path, other)) continue;
    throw UsageError(fmt::format("{}: this command reads or writes {} already", option, other));
  }
  taken_.push_back(path);
}

}  // namespace ohm::cli
