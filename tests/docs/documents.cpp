#include "tests/docs/documents.h"

#include <algorithm>
#include <filesystem>

#include "tests/support/checkout_paths.h"

namespace ohm::docs {

std::string source_path(const std::string& file) {
  return std::string(OHM_SOURCE_DIR) + "/" + file;
}

std::vector<std::string> documents_with_commands() {
  std::vector<std::string> files = {"README.md"};
  for (const auto& entry : std::filesystem::directory_iterator(source_path("docs"))) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".md")) files.push_back("docs/" + name);
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace ohm::docs
