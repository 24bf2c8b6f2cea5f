#include "harness/process/same_file.h"

#include <filesystem>
#include <system_error>

namespace ohm::engine {

bool is_same_file(const std::string& a, const std::string& b) {
  namespace fs = std::filesystem;
  std::error_code unknown;
  if (fs::equivalent(a, b, unknown)) return true;
  // A relative path of which nothing is there yet would stay as it is.
  const auto whole = [&](const std::string& path) {
    return fs::weakly_canonical(fs::absolute(path, unknown), unknown);
  };
  const fs::path canonical = whole(a);
  return !unknown && canonical == whole(b) && !unknown;
}

}  // namespace ohm::engine
