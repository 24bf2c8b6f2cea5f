#include "tests/style/target_sources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "tests/support/checkout_paths.h"
#include "tests/support/temp_folder.h"

namespace ohm::style {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(TargetSources, HaveEverySourceOfTheTree) {
  EXPECT_THAT(find_uncompiled_sources(OHM_SOURCE_DIR, read_target_sources(OHM_TARGET_SOURCES)),
              IsEmpty())
      << "add it to the CMakeLists.txt of its folder, or delete it";
}

TEST(TargetSources, ASourceThatIsInNoneIsFound) {
  const test::TempFolder tree;
  for (const char* path :
       {"reports/json/merge.cpp", "reports/json/forgotten.cpp", "tests/reports/merge_test.cpp",
        "tests/fuzz/settings_fuzz.cpp", "reports/json/merge.h", "build/reports/copy.cpp"}) {
    std::filesystem::create_directories(tree.path() / std::filesystem::path(path).parent_path());
    std::ofstream(tree.path() / path) << "\n";
  }
  EXPECT_THAT(find_uncompiled_sources(tree.path(), {"reports/json/merge.cpp"}),
              ElementsAre("reports/json/forgotten.cpp", "tests/reports/merge_test.cpp"));
}

TEST(TargetSources, ConditionalOnesAreThere) {
  for (const ConditionalSource& source : conditional_sources()) {
    EXPECT_TRUE(std::filesystem::exists(std::filesystem::path(OHM_SOURCE_DIR) / source.path))
        << source.path;
    EXPECT_FALSE(source.needs.empty()) << source.path;
  }
}

TEST(TargetSources, AListThatIsNotThereIsAnError) {
  EXPECT_THROW(read_target_sources("/no/such/list"), std::runtime_error);
}

}  // namespace
}  // namespace ohm::style
