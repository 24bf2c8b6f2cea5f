#include "harness/cli/scenario_files.h"

#include <algorithm>
#include <filesystem>

namespace ohm::cli {

namespace {

namespace fs = std::filesystem;

std::vector<std::string> scenarios_in(const fs::path& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".lua" && entry.is_regular_file(error)) {
      files.push_back(entry.path().string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

std::vector<std::string> default_scenario_files() {
  std::vector<std::string> files = scenarios_in("scenarios");
  if (!files.empty()) return files;
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  return scenarios_in(program.parent_path().parent_path() / "share" / "ohm" / "scenarios");
}

}  // namespace ohm::cli
