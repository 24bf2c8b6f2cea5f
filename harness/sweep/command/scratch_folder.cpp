#include "harness/sweep/command/scratch_folder.h"

#include <fmt/format.h>

#include <filesystem>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include "harness/process/current_folder.h"

namespace ohm::engine {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kBeforePaths = " =:,;'\"";

bool is_inside(const std::string& path, const std::string& folder) {
  const fs::path real = fs::canonical(path);
  const fs::path near = real.lexically_relative(fs::canonical(folder));
  return !near.empty() && *near.begin() != "..";
}

void check_place(const std::string& copy) {
  const std::string folder = current_folder();
  if (!is_inside(copy, folder)) return;
  throw std::invalid_argument(
      fmt::format("each run has a copy of this folder, and the folder of temporary files, {}, is "
                  "inside it: set TMPDIR to a folder elsewhere, or start in another folder",
                  fs::path(copy).parent_path().string()));
}

/// Whether `folder` at `at` is the start of a path, and ends there or at a "/".
bool is_path_at(std::string_view word, std::size_t at, std::string_view folder) {
  const std::size_t end = at + folder.size();
  const bool has_end = end == word.size() || word[end] == '/' ||
                       kBeforePaths.find(word[end]) != std::string_view::npos;
  std::string_view before = word.substr(0, at);
  const std::size_t cut = before.find_last_of(kBeforePaths);
  if (cut != std::string_view::npos) before.remove_prefix(cut + 1);
  // "-I" and "//" (of "file://") come before a path, "/another" is a part of it.
  const bool is_start = before.find('/') == std::string_view::npos ||
                        before.find_first_not_of('/') == std::string_view::npos;
  return has_end && is_start;
}

}  // namespace

std::string with_folder_moved(std::string_view word, std::string_view from, std::string_view to) {
  std::string moved;
  std::size_t done = 0;
  for (std::size_t at = word.find(from); at != std::string_view::npos;
       at = word.find(from, at + 1)) {
    if (at < done || !is_path_at(word, at, from)) continue;
    moved += word.substr(done, at - done);
    moved += to;
    done = at + from.size();
  }
  return moved + std::string(word.substr(done));
}

// ---- copies -------------------------------------------------------------------------------------

namespace {

/// What cannot be read, and what is gone by now, is left out.
bool is_left_out(const std::error_code& error) {
  return error == std::errc::permission_denied || error == std::errc::no_such_file_or_directory;
}

void check(const std::error_code& error, const fs::path& path) {
  if (!error || is_left_out(error)) return;
  throw std::invalid_argument(
      fmt::format("cannot copy {} for a run: {}; TMPDIR says where copies of this folder are made",
                  path.string(), error.message()));
}

/// A folder of copies.
class FolderCopy {
 public:
  FolderCopy(std::string from, std::string to) : from_(std::move(from)), to_(std::move(to)) {}
  void make() const { copy_folder(from_, to_); }

 private:
  void copy_folder(const fs::path& from, const fs::path& to) const {
    std::error_code error;
    fs::create_directory(to, error);
    check(error, from);
    fs::directory_iterator entry(from, fs::directory_options::skip_permission_denied, error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
      copy_entry(*entry, to / entry->path().filename());
    }
    check(error, from);
  }

  /// Pipes, sockets and devices are left out.
  void copy_entry(const fs::directory_entry& entry, const fs::path& to) const {
    std::error_code error;
    const fs::file_status status = entry.symlink_status(error);
    if (fs::is_directory(status)) return copy_folder(entry.path(), to);
    if (fs::is_symlink(status)) {
      const fs::path target = fs::read_symlink(entry.path(), error);
      if (!error) fs::create_symlink(with_folder_moved(target.string(), from_, to_), to, error);
    } else if (fs::is_regular_file(status)) {
      fs::copy_file(entry.path(), to, error);
    }
    check(error, entry.path());
    if (!fs::is_regular_file(status)) return;
    // Programs go on from the newest of their checkpoints.
    const auto time = fs::last_write_time(entry.path(), error);
    if (!error) fs::last_write_time(to, time, error);
  }

  std::string from_;
  std::string to_;
};

}  // namespace

ScratchFolder::ScratchFolder() {
  check_place(folder_.path());
  FolderCopy(current_folder(), path()).make();
}

void ScratchFolder::keep() const { FolderCopy(path(), kept()).make(); }

void ScratchFolder::put_back() const {
  std::error_code error;
  fs::remove_all(path(), error);
  check(error, path());
  FolderCopy(kept(), path()).make();
}

std::vector<std::string> ScratchFolder::moved(const std::vector<std::string>& words) const {
  const std::string folder = current_folder();
  std::vector<std::string> moved;
  for (const std::string& word : words) moved.push_back(with_folder_moved(word, folder, path()));
  return moved;
}

std::uintmax_t bytes_of_current_folder() {
  std::uintmax_t bytes = 0;
  std::error_code error;
  fs::recursive_directory_iterator at(current_folder(),
                                      fs::directory_options::skip_permission_denied, error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    std::error_code unreadable;
    if (!at->is_symlink(unreadable) && at->is_regular_file(unreadable)) {
      bytes += at->file_size(unreadable);
    }
  }
  return bytes;
}

}  // namespace ohm::engine
