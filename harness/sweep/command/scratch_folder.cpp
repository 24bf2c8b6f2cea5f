#include "harness/sweep/command/scratch_folder.h"

#include <filesystem>
#include <system_error>

#include "harness/process/current_folder.h"

namespace ohm::engine {

ScratchFolder::ScratchFolder() {
  const auto options =
      std::filesystem::copy_options::recursive | std::filesystem::copy_options::copy_symlinks;
  std::filesystem::copy(current_folder(), path(), options);
}

std::vector<std::string> ScratchFolder::moved(const std::vector<std::string>& words) const {
  const std::string folder = current_folder();
  std::vector<std::string> moved;
  for (const std::string& word : words) {
    const bool is_inside = word.starts_with(folder + "/");
    moved.push_back(is_inside ? path() + word.substr(folder.size()) : word);
  }
  return moved;
}

std::uintmax_t bytes_of_current_folder() {
  namespace fs = std::filesystem;
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
