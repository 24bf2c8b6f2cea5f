// The caching allocator against recordings of PyTorch 2.6.0's own, driven over a simulated device:
// every column, every event, every out-of-memory message.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "allocator_shim/caching/golden_format.h"
#include "tests/support/checkout_paths.h"

namespace ohm {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = fs::path(OHM_RECORDINGS_DIR) / "allocator";

std::string contents_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string> case_names() {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(kFolder)) {
    if (entry.path().extension() == ".trace") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// The first line that differs says more than two files.
void expect_same_lines(const std::string& actual, const std::string& recorded) {
  std::istringstream actual_lines(actual);
  std::istringstream recorded_lines(recorded);
  std::string actual_line;
  std::string recorded_line;
  for (int number = 1; std::getline(recorded_lines, recorded_line); ++number) {
    ASSERT_TRUE(std::getline(actual_lines, actual_line)) << "line " << number << " is missing";
    ASSERT_EQ(actual_line, recorded_line) << "line " << number;
  }
  EXPECT_FALSE(std::getline(actual_lines, actual_line)) << "one line more: " << actual_line;
}

class GoldenTrace : public testing::TestWithParam<std::string> {};

TEST_P(GoldenTrace, RunsAsPyTorchDid) {
  const fs::path stem = kFolder / GetParam();
  const auto with_extension = [&](const char* extension) {
    return contents_of(fs::path(stem).concat(extension));
  };
  TraceRunOptions options;
  options.rules = find_rule_set("pytorch-2.6");
  const GoldenOutput output = run_in_golden_format(parse_trace(with_extension(".trace")), options);
  expect_same_lines(output.expected, with_extension(".expected"));
  expect_same_lines(output.events, with_extension(".events"));
  expect_same_lines(output.out_of_memory, with_extension(".oom"));
}

INSTANTIATE_TEST_SUITE_P(AllRecordings, GoldenTrace, testing::ValuesIn(case_names()),
                         [](const auto& info) { return info.param; });

TEST(GoldenTraces, AreAllHere) { EXPECT_EQ(case_names().size(), 51U); }

}  // namespace
}  // namespace ohm
