#include "harness/process/shipped_files.h"

#include <system_error>

namespace ohm::engine {

std::vector<std::filesystem::path> shipped_places(const char* built, const char* installed) {
  // The top of a build is this program's folder, or at most two above it.
  constexpr int kDepth = 3;
  std::error_code no_proc;
  std::filesystem::path folder =
      std::filesystem::read_symlink("/proc/self/exe", no_proc).parent_path();
  std::vector<std::filesystem::path> found = {(folder / installed).lexically_normal()};
  for (int i = 0; i < kDepth; ++i, folder = folder.parent_path()) {
    found.push_back((folder / built).lexically_normal());
  }
  return found;
}

}  // namespace ohm::engine
