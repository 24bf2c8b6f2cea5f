#include "harness/sweep/command/command_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "allocator_shim/interpose/host/written_files.h"
#include "harness/process/current_folder.h"
#include "harness/process/file_bytes.h"

namespace ohm::engine {

namespace fs = std::filesystem;
namespace host = interpose::host;

namespace {

/// Of a file, and of all of them, that are kept in memory. What is larger is not compared.
constexpr std::uintmax_t kMostBytesOfAFile = std::uintmax_t{64} << 20;
constexpr std::uintmax_t kMostBytesInMemory = std::uintmax_t{256} << 20;

bool is_there(const std::string& path) {
  std::error_code gone;
  return fs::exists(fs::symlink_status(path, gone));
}

std::string shown(const std::string& path) {
  const fs::path near = fs::path(path).lexically_relative(current_folder());
  return near.empty() || *near.begin() == ".." ? path : near.string();
}

mode_t mode_of(const std::string& path) {
  struct stat status = {};
  return stat(path.c_str(), &status) == 0 ? status.st_mode & mode_t{07777} : 0;
}

/// Whether all of it was written.
bool write_file(const std::string& path, const std::string& bytes, mode_t mode) {
  std::error_code ignored;
  fs::create_directories(fs::path(path).parent_path(), ignored);
  if (is_there(path)) chmod(path.c_str(), mode | S_IWUSR);
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode | S_IWUSR);
  if (file < 0) return false;
  std::string_view rest = bytes;
  while (!rest.empty()) {
    const ssize_t written = write(file, rest.data(), rest.size());
    if (written <= 0) break;
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  const bool has_mode = mode_of(path) == mode || fchmod(file, mode) == 0;
  return close(file) == 0 && rest.empty() && has_mode;
}

/// Where a large file is meanwhile.
std::string kept_place(const std::string& path) {
  return fmt::format("{}.ohm-kept-{}", path, getpid());
}

/// It is gone then, if it was not there before the first run.
void keep_aside(const std::string& path, bool was_there) {
  std::error_code error;
  const bool is_kept = is_there(kept_place(path));
  if (!was_there) {
    if (is_kept) fs::remove(path, error);
    if (!is_kept && is_there(path)) fs::rename(path, kept_place(path), error);
  } else if (!is_kept && !fs::copy_file(path, kept_place(path), error)) {
    std::error_code ignored;
    fs::remove(kept_place(path), ignored);
    throw std::runtime_error(fmt::format("cannot copy {}: {}", shown(path), error.message()));
  }
}

bool take_back(const std::string& path) {
  std::error_code error;
  if (is_there(kept_place(path))) fs::rename(kept_place(path), path, error);
  return !error;
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

/// The next run of digits from there on, and where it is.
std::string_view next_number(std::string_view text, std::size_t& place) {
  constexpr std::string_view kDigits = "0123456789";
  place = std::min(text.find_first_of(kDigits, place), text.size());
  const std::size_t end = std::min(text.find_first_not_of(kDigits, place), text.size());
  return text.substr(place, end - place);
}

/// "1764376000" and "24:59" may be of a clock; "rows:3" is not.
bool may_be_time(std::string_view text, std::size_t place, std::size_t digits) {
  constexpr std::size_t kDigitsOfSeconds = 9;
  const auto is_digit = [text](std::size_t at) {
    return at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0;
  };
  const std::size_t end = place + digits;
  const bool is_behind_colon = place > 1 && text[place - 1] == ':' && is_digit(place - 2);
  const bool is_before_colon = end < text.size() && text[end] == ':' && is_digit(end + 1);
  return digits >= kDigitsOfSeconds || is_behind_colon || is_before_colon;
}

/// Two runs without faults in the same second are no proof that a file is the same in all runs.
bool may_differ_by_time(const std::string& bytes, const std::string& expected) {
  if (pattern_of(bytes) != pattern_of(expected)) return false;
  std::size_t place = 0;
  std::size_t expected_place = 0;
  for (;;) {
    const std::string_view number = next_number(bytes, place);
    const std::string_view wanted = next_number(expected, expected_place);
    if (number.empty()) return false;
    if (number != wanted && may_be_time(bytes, place, number.size())) return true;
    place += number.size();
    expected_place += wanted.size();
  }
}

std::string folder_of(const std::string& path) { return fs::path(path).parent_path(); }

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
  file.is_renamed = has(host::kWrittenRenamed);
  return file;
}

}  // namespace

std::time_t last_change(const std::string& path) {
  struct stat status = {};
  return stat(path.c_str(), &status) == 0 ? status.st_ctim.tv_sec : 0;
}

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

void CommandFiles::take(const std::vector<WrittenFile>& all, std::time_t began) {
  std::vector<WrittenFile> written;
  std::copy_if(all.begin(), all.end(), std::back_inserter(written), [&](const WrittenFile& file) {
    return !file.was_there || file.is_folder || !is_there(file.path) ||
           last_change(file.path) >= began;
  });
  for (const auto& [path, content] : left_) {
    if (content.is_in_memory) continue;
    std::error_code error;
    if (is_there(path)) fs::remove(kept_place(path), error);
    if (!is_there(path)) take_back(path);
  }
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
    if (!file.is_folder && fs::is_regular_file(file.path, error)) take_content(file);
  }
}

void CommandFiles::take_content(const WrittenFile& file) {
  const auto [known, is_new] = left_.try_emplace(file.path);
  Content& content = known->second;
  bytes_in_memory_ -= content.bytes.size();
  std::error_code error;
  const std::uintmax_t size = fs::file_size(file.path, error);
  content.is_in_memory =
      !error && size <= kMostBytesOfAFile && bytes_in_memory_ + size <= kMostBytesInMemory;
  std::string bytes = content.is_in_memory ? read_file_bytes(file.path) : "";
  if (!is_new && content.bytes != bytes) content.is_stable = false;
  content.bytes = std::move(bytes);
  bytes_in_memory_ += content.bytes.size();
  content.mode = mode_of(file.path);
  const auto first = first_.find(file.path);
  content.was_there = first == first_.end() || first->second.was_there;
  content.is_appended = content.is_appended || file.is_appended;
}

std::string CommandFiles::names() const {
  if (left_.empty()) return first_.empty() ? "" : "temporary files";
  const std::string more = left_.size() == 1 ? "" : fmt::format(" and {} more", left_.size() - 1);
  return shown(left_.begin()->first) + more;
}

void CommandFiles::put_back() const {
  for (const auto& [path, content] : left_) {
    if (!content.is_in_memory) keep_aside(path, content.was_there);
  }
  for (const auto& [path, file] : first_) {
    std::error_code gone;
    if (!file.was_there && !file.is_folder) fs::remove(path, gone);
  }
  // Folders of the run, which are empty by now, the innermost first.
  std::for_each(first_.rbegin(), first_.rend(), [](const auto& entry) {
    std::error_code is_used;
    if (!entry.second.was_there && entry.second.is_folder) fs::remove(entry.first, is_used);
  });
}

void CommandFiles::restore(const std::vector<WrittenFile>& written) const {
  remove_new(written);
  for (const auto& [path, file] : first_) {
    std::error_code error;
    if (file.is_folder && !is_there(path)) fs::create_directories(path, error);
  }
  std::string problem;
  for (const auto& [path, content] : left_) {
    if (content.is_in_memory && is_there(path) && mode_of(path) == content.mode &&
        read_file_bytes(path) == content.bytes) {
      continue;
    }
    errno = 0;
    const bool is_restored =
        content.is_in_memory ? write_file(path, content.bytes, content.mode) : take_back(path);
    if (is_restored || !problem.empty()) continue;
    problem = fmt::format("cannot restore {}: {}", shown(path), std::strerror(errno));
  }
  if (!problem.empty()) throw std::runtime_error(problem);
}

/// What the run created and a run without faults does not leave. What got a name of another file
/// may be the user's.
void CommandFiles::remove_new(const std::vector<WrittenFile>& written) const {
  std::set<std::string> met;
  std::set<std::string> old;
  for (const WrittenFile& file : written) {
    const bool is_first = met.insert(file.path).second;
    if (file.is_renamed || (is_first && file.was_there)) old.insert(file.path);
  }
  std::for_each(written.rbegin(), written.rend(), [&](const WrittenFile& file) {
    const auto first = first_.find(file.path);
    const bool is_kept = old.contains(file.path) || left_.contains(file.path) ||
                         (first != first_.end() && (first->second.was_there || file.is_folder));
    std::error_code is_used;
    if (!is_kept) fs::remove(file.path, is_used);
  });
}

std::optional<FileDamage> CommandFiles::damage(const std::vector<WrittenFile>& written,
                                               bool ends_well) const {
  const auto is_written = [&](const std::string& path) {
    return std::any_of(written.begin(), written.end(),
                       [&](const WrittenFile& file) { return file.path == path; });
  };
  std::optional<FileDamage> first = left_over(written);
  for (const auto& [path, expected] : left_) {
    if (first || !expected.is_stable || !expected.is_in_memory) continue;
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
  const std::string bytes = read_file_bytes(path);
  if (bytes == expected.bytes || may_differ_by_time(bytes, expected.bytes)) return {};
  const bool is_truncated =
      bytes.size() < expected.bytes.size() && expected.bytes.starts_with(bytes);
  const std::string what = is_truncated ? fmt::format("leaves {} truncated: {} of {} bytes", name,
                                                      bytes.size(), expected.bytes.size())
                                        : fmt::format("leaves {} with other content", name);
  if (ends_well) return FileDamage{FaultVerdict::recovered_different, "it ends well, and " + what};
  // A log ends where the program ended, with a whole line.
  const bool is_whole = bytes.empty() || bytes.ends_with('\n');
  if (!is_truncated || expected.is_appended || (is_whole && !expected.was_there)) return {};
  return FileDamage{FaultVerdict::corrupt, "it ends with an error, and " + what};
}

std::optional<FileDamage> CommandFiles::left_over(const std::vector<WrittenFile>& written) const {
  for (const WrittenFile& file : written) {
    const bool is_expected = file.was_there || left_.contains(file.path);
    if (is_expected || !is_temporary(file) || !is_there(file.path)) continue;
    return FileDamage{FaultVerdict::leak,
                      fmt::format("it leaves the temporary {} {} behind",
                                  file.is_folder ? "folder" : "file", shown(file.path))};
  }
  return {};
}

/// Runs without faults create such a file, too, and remove it.
bool CommandFiles::is_temporary(const WrittenFile& file) const {
  return gone_.contains(pattern_of(file.path)) ||
         (file.is_exclusive && emptied_folders_.contains(folder_of(file.path)));
}

}  // namespace ohm::engine
