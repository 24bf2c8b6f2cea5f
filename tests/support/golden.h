// Expected bytes in files: goldens of our own output, which OHM_APPROVE=1 rewrites, and recordings
// of PyTorch and CPython, which it does not.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include "tests/support/checkout_paths.h"

namespace ohm::test {

inline bool is_approval_asked_for() {
  const char* const approve = std::getenv("OHM_APPROVE");
  return approve != nullptr && std::string_view(approve) == "1";
}

/// The folder of golden files, and whether those of our own output are rewritten.
struct GoldenFiles {
  std::string folder = OHM_GOLDEN_DIR;
  bool are_approved = is_approval_asked_for();

  std::string path_of(const std::string& name) const { return folder + "/" + name; }
};

inline std::string golden_path(const std::string& name) { return GoldenFiles().path_of(name); }

/// A file or folder of a recording that is stored compressed: "allocator/combo_a.trace".
inline std::string recording_path(const std::string& name) {
  return std::string(OHM_RECORDINGS_DIR) + "/" + name;
}

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return std::move(bytes).str();
}

/// Our own output lies in reports/. All else was recorded, or lists by hand what differs from
/// recordings: a difference there is a defect of ohm's, which no option may hide.
inline bool is_our_output(std::string_view name) {
  return name.starts_with("reports/") && name.find("..") == std::string_view::npos;
}

/// Fails with both texts when `actual` is not what tests/golden/`name` says.
inline void expect_golden(std::string_view actual, const std::string& name,
                          const GoldenFiles& files = {}) {
  const std::string path = files.path_of(name);
  const bool may_change = is_our_output(name);
  if (files.are_approved && may_change) {
    std::ofstream(path, std::ios::binary) << actual;
    return;
  }
  EXPECT_EQ(read_file(path), actual)
      << "golden file: " << path
      << (may_change ? "\napprove it with OHM_APPROVE=1" : "\nrecordings are not approved");
}

}  // namespace ohm::test
