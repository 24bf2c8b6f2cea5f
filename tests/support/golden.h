// Expected bytes in files: compared, or rewritten with OHM_APPROVE=1 in the environment.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

namespace ohm::test {

inline std::string golden_path(const std::string& name) {
  return std::string(OHM_GOLDEN_DIR) + "/" + name;
}

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return std::move(bytes).str();
}

/// Fails with both texts when `actual` is not what tests/golden/`name` says.
inline void expect_golden(std::string_view actual, const std::string& name) {
  const char* approve = std::getenv("OHM_APPROVE");
  if (approve != nullptr && std::string_view(approve) == "1") {
    std::ofstream(golden_path(name), std::ios::binary) << actual;
    return;
  }
  EXPECT_EQ(read_file(golden_path(name)), actual)
      << "golden file: " << golden_path(name) << "\napprove it with OHM_APPROVE=1";
}

}  // namespace ohm::test
