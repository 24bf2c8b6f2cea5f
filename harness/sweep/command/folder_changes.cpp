#include "harness/sweep/command/folder_changes.h"

#include <filesystem>
#include <system_error>

namespace ohm::engine {

namespace fs = std::filesystem;

FolderChanges::FolderChanges(std::string folder, const std::string& left_out)
    : folder_(std::move(folder)),
      left_out_(left_out.empty() ? "" : fs::weakly_canonical(left_out).string()),
      before_(files()) {}

FolderChanges::Files FolderChanges::files() const {
  constexpr std::size_t kMostFiles = 10000;
  Files files;
  std::error_code error;
  auto entry = fs::recursive_directory_iterator(
      folder_, fs::directory_options::skip_permission_denied, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename();
    if (name == "__pycache__" || name == ".git" || entry->path() == left_out_) {
      entry.disable_recursion_pending();
      continue;
    }
    std::error_code gone;  // a file may go meanwhile
    if (!entry->is_regular_file(gone)) continue;
    files[entry->path().lexically_relative(folder_)] = {
        entry->file_size(gone), entry->last_write_time(gone).time_since_epoch().count()};
    if (files.size() >= kMostFiles) break;
  }
  return files;
}

std::vector<std::string> FolderChanges::since() const {
  std::vector<std::string> changed;
  for (const auto& [name, state] : files()) {
    const auto known = before_.find(name);
    if (known == before_.end() || known->second != state) changed.push_back(name);
  }
  return changed;
}

}  // namespace ohm::engine
