#include "tests/support/golden.h"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/checkout_paths.h"
#include "tests/support/temp_folder.h"

namespace ohm::test {
namespace {

class GoldenTest : public testing::Test {
 protected:
  static constexpr const char* kOurs = "reports/sample.txt";
  static constexpr const char* kRecorded = "pytorch/recordings/sample.txt";

  void SetUp() override {
    for (const char* name : {kOurs, kRecorded}) {
      const std::filesystem::path path = files_.path_of(name);
      std::filesystem::create_directories(path.parent_path());
      std::ofstream(path) << "before";
    }
  }
  std::string text_of(const char* name) const { return read_file(files_.path_of(name)); }

  TempFolder folder_;
  GoldenFiles files_{folder_.path().string(), true};
};

TEST_F(GoldenTest, OurOutputIsApproved) {
  expect_golden("after", kOurs, files_);
  EXPECT_EQ(text_of(kOurs), "after");
}

TEST_F(GoldenTest, RecordingsAreNot) {
  expect_golden("before", kRecorded, files_);
  EXPECT_NONFATAL_FAILURE(expect_golden("after", kRecorded, files_), "recordings are not approved");
  EXPECT_EQ(text_of(kRecorded), "before");
}

TEST_F(GoldenTest, NothingIsApprovedUnlessItIsAskedFor) {
  files_.are_approved = false;
  EXPECT_NONFATAL_FAILURE(expect_golden("after", kOurs, files_), "approve it with OHM_APPROVE=1");
  EXPECT_EQ(text_of(kOurs), "before");
}

TEST(Golden, OnlyReportsAreOurOutput) {
  for (const auto& entry : std::filesystem::directory_iterator(OHM_GOLDEN_DIR)) {
    const std::string name = entry.path().filename().string();
    EXPECT_EQ(is_our_output(name + "/x"), name == "reports") << name;
  }
  EXPECT_FALSE(is_our_output("reports/../pytorch/recordings/oom.txt"));
}

}  // namespace
}  // namespace ohm::test
