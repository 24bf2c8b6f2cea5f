#include "harness/process/same_file.h"

#include <filesystem>
#include <system_error>

namespace ohm::engine {

bool is_same_file(const std::string& a, const std::string& b) {
  namespace fs = std::filesystem;
  std::error_code unknown;
  if (fs::equivalent(a, b, unknown)) return true;
  const fs::path canonical = fs::weakly_canonical(a, unknown);
  return !unknown && canonical == fs::weakly_canonical(b, unknown);
}

}  // namespace ohm::engine
