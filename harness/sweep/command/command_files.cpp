#include "harness/sweep/command/command_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <system_error>

#include "allocator_shim/interpose/host/written_files.h"
#include "harness/process/current_folder.h"

namespace ohm::engine {

namespace fs = std::filesystem;
namespace host = interpose::host;

namespace {

/// Larger ones are only looked for.
constexpr std::uintmax_t kMostBytesKept = std::uintmax_t{64} << 20;

bool is_there(const std::string& path) {
  std::error_code gone;
  return fs::exists(fs::symlink_status(path, gone));
}

std::string content_of(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

/// Numbers of processes, and the like, are others in each run.
std::string pattern_of(const std::string& path) {
  std::string pattern;
  for (const char c : path) {
    const bool is_digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    if (!is_digit) pattern += c;
    if (is_digit && !pattern.ends_with('#')) pattern += '#';
  }
  return pattern;
}

std::string folder_of(const std::string& path) { return fs::path(path).parent_path(); }

std::string shown(const std::string& path) {
  const fs::path near = fs::path(path).lexically_relative(current_folder());
  return near.empty() || *near.begin() == ".." ? path : near.string();
}

WrittenFile written_file(std::string_view letters, const std::string& path) {
  const auto has = [letters](char letter) {
    return letters.find(letter) != std::string_view::npos;
  };
  WrittenFile file;
  file.path = fs::path(path).lexically_normal();
  file.was_there = has(host::kWrittenOld);
  file.is_exclusive = has(host::kWrittenExclusive);
  file.is_appended = has(host::kWrittenAppended);
  file.is_folder = has(host::kWrittenFolder);
  return file;
}

}  // namespace

std::vector<WrittenFile> read_written_files(const std::string& list) {
  std::vector<WrittenFile> files;
  std::ifstream stream(list);
  for (std::string line; std::getline(stream, line);) {
    const std::size_t tab = line.find('\t');
    if (tab == std::string::npos || line.find("__pycache__") != std::string::npos) continue;
    files.push_back(written_file(std::string_view(line).substr(0, tab), line.substr(tab + 1)));
  }
  return files;
}

void CommandFiles::take(const std::vector<WrittenFile>& written) {
  const bool is_first = first_.empty();
  for (const WrittenFile& file : written) {
    if (is_first) first_.emplace(file.path, file);
    if (file.is_exclusive) emptied_folders_.insert(folder_of(file.path));
    if (!is_there(file.path)) gone_.insert(pattern_of(file.path));
  }
  for (const WrittenFile& file : written) {
    if (!is_there(file.path)) continue;
    if (file.is_exclusive) emptied_folders_.erase(folder_of(file.path));
    std::error_code error;
    if (file.is_folder || !fs::is_regular_file(file.path, error)) continue;
    const bool is_kept = fs::file_size(file.path, error) <= kMostBytesKept && !error;
    std::string bytes = is_kept ? content_of(file.path) : "";
    const auto [known, is_new] = left_.try_emplace(file.path);
    if (!is_new && known->second.bytes != bytes) known->second.is_stable = false;
    known->second.bytes = std::move(bytes);
    known->second.is_compared = is_kept;
    known->second.is_appended = known->second.is_appended || file.is_appended;
  }
}

std::string CommandFiles::names() const {
  if (left_.empty()) return first_.empty() ? "" : "temporary files";
  const std::string more = left_.size() == 1 ? "" : fmt::format(" and {} more", left_.size() - 1);
  return shown(left_.begin()->first) + more;
}

void CommandFiles::put_back() const {
  for (const auto& [path, file] : first_) {
    std::error_code gone;
    if (!file.was_there && !file.is_folder) fs::remove(path, gone);
  }
  // Folders of the run, which are empty by now, the innermost first.
  for (auto entry = first_.rbegin(); entry != first_.rend(); ++entry) {
    std::error_code is_used;
    if (!entry->second.was_there && entry->second.is_folder) fs::remove(entry->first, is_used);
  }
}

void CommandFiles::restore() const {
  for (const auto& [path, file] : first_) {
    std::error_code error;
    if (file.is_folder && !is_there(path)) fs::create_directories(path, error);
  }
  for (const auto& [path, content] : left_) {
    if (!content.is_compared || (is_there(path) && content_of(path) == content.bytes)) continue;
    std::error_code error;
    if (fs::exists(folder_of(path), error)) std::ofstream(path, std::ios::binary) << content.bytes;
  }
}

std::optional<FileDamage> CommandFiles::damage(const std::vector<WrittenFile>& written,
                                               bool ends_well) const {
  const auto is_written = [&](const std::string& path) {
    return std::any_of(written.begin(), written.end(),
                       [&](const WrittenFile& file) { return file.path == path; });
  };
  std::optional<FileDamage> first = left_over(written);
  for (const auto& [path, expected] : left_) {
    if (first || !expected.is_stable || !expected.is_compared) continue;
    first = content_damage(path, expected, is_written(path), ends_well);
  }
  return first;
}

std::optional<FileDamage> CommandFiles::content_damage(const std::string& path,
                                                       const Content& expected, bool is_written,
                                                       bool ends_well) const {
  const std::string name = shown(path);
  const bool is_left = is_there(path);
  if (ends_well && (!is_left || !is_written)) {
    return FileDamage{FaultVerdict::recovered_different,
                      fmt::format("it ends well, and does not write {}", name)};
  }
  if (!is_left || !is_written) return {};
  const std::string bytes = content_of(path);
  if (bytes == expected.bytes) return {};
  const bool is_truncated =
      bytes.size() < expected.bytes.size() && expected.bytes.starts_with(bytes);
  const std::string what = is_truncated ? fmt::format("leaves {} truncated: {} of {} bytes", name,
                                                      bytes.size(), expected.bytes.size())
                                        : fmt::format("leaves {} with other content", name);
  if (ends_well) return FileDamage{FaultVerdict::recovered_different, "it ends well, and " + what};
  // What a program appends to, as a log, ends where it ended.
  if (!is_truncated || expected.is_appended) return {};
  return FileDamage{FaultVerdict::corrupt, "it ends with an error, and " + what};
}

std::optional<FileDamage> CommandFiles::left_over(const std::vector<WrittenFile>& written) const {
  std::optional<FileDamage> first;
  for (const WrittenFile& file : written) {
    if (file.was_there || left_.contains(file.path) || !is_temporary(file)) continue;
    if (!is_there(file.path)) continue;
    if (!first) {
      first = FileDamage{FaultVerdict::leak,
                         fmt::format("it leaves the temporary {} {} behind",
                                     file.is_folder ? "folder" : "file", shown(file.path))};
    }
    std::error_code ignored;
    if (!file.is_folder) fs::remove(file.path, ignored);
  }
  for (auto file = written.rbegin(); file != written.rend(); ++file) {
    std::error_code is_used;
    const bool is_own = file->is_folder && !file->was_there && is_temporary(*file);
    if (is_own) fs::remove(file->path, is_used);
  }
  return first;
}

/// Runs without faults create such a file, too, and remove it.
bool CommandFiles::is_temporary(const WrittenFile& file) const {
  return gone_.contains(pattern_of(file.path)) ||
         (file.is_exclusive && emptied_folders_.contains(folder_of(file.path)));
}

}  // namespace ohm::engine
