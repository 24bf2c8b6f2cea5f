#include "harness/scenario/source_file.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

#include "allocator_shim/base/nearest_name.h"
#include "allocator_shim/base/utf8.h"
#include "allocator_shim/base/whole_file.h"
#include "harness/scenario/scenario_names.h"
#include "harness/scenario/script_errors.h"

namespace ohm::engine {

namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& why, const std::string& hint,
                         int line = 0) {
  throw script_error_at(path, line, why, hint);
}

/// The file in the same folder, or the scenario, that may have been meant.
std::string missing_file_hint(const std::string& path) {
  const std::filesystem::path wanted(path);
  if (is_scenario_name(path)) {
    const std::string similar = similar_scenario(path);
    if (!similar.empty()) return fmt::format("did you mean {}?", similar);
  }
  const std::string stem = wanted.stem().string();
  if (wanted.extension() == ".lua" && scenario_file(stem) != stem) {
    return fmt::format("did you mean {}, the scenario that comes with ohm?", stem);
  }
  const std::filesystem::path folder = wanted.has_parent_path() ? wanted.parent_path() : ".";
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error)) {
    return fmt::format("there is no folder {}", folder.string());
  }
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".lua") names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  const std::string nearest = nearest_name(wanted.filename().string(), names);
  if (nearest.empty()) return "ohm list prints the scenarios";
  return fmt::format("did you mean {}?", (wanted.parent_path() / nearest).string());
}

std::string read_whole(const std::string& path) {
  try {
    return read_whole_file(path);
  } catch (const std::system_error& error) {
    refuse(path, error.code().message(), "");
  }
}

void check_kind(const std::string& path) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0) {
    if (errno == ENOENT) refuse(path, "no such file", missing_file_hint(path));
    refuse(path, std::strerror(errno), "");
  }
  if (S_ISDIR(status.st_mode)) {
    refuse(path, "is a directory", fmt::format("name the files in it: {}/*.lua", path));
  }
  if (!S_ISREG(status.st_mode)) refuse(path, "is not a regular file", "");
  if (status.st_size == 0)
    refuse(path, "is empty", "a scenario ends with return ohm.scenario {...}");
  if (static_cast<std::size_t>(status.st_size) > kMaxSourceBytes) {
    refuse(path, fmt::format("is too large for a scenario ({} bytes)", status.st_size), "");
  }
}

}  // namespace

std::string read_source_file(const std::string& path) {
  check_kind(path);
  std::string text = read_whole(path);
  if (text.find('\0') != std::string::npos || text.front() == '\x1b') {
    refuse(path, "is a binary file", "a scenario is Lua source text");
  }
  if (const std::optional<std::size_t> offset = first_invalid_utf8(text)) {
    const auto end = text.begin() + static_cast<std::ptrdiff_t>(*offset);
    const auto line = static_cast<int>(1 + std::count(text.begin(), end, '\n'));
    refuse(path, "is not UTF-8 text", "save it as UTF-8", line);
  }
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.compare(0, kByteOrderMark.size(), kByteOrderMark) == 0) {
    text.erase(0, kByteOrderMark.size());
  }
  return text;
}

}  // namespace ohm::engine
