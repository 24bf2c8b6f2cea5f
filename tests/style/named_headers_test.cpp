#include "tests/style/named_headers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <ostream>
#include <string>

#include "tests/support/checkout_paths.h"
#include "tests/support/temp_folder.h"

namespace ohm::style {

void PrintTo(const Breach& breach, std::ostream* out);  // defined in include_rules_test.cpp

namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(NamedHeaders, AreInTheTree) { EXPECT_THAT(find_missing_headers(OHM_SOURCE_DIR), IsEmpty()); }

TEST(NamedHeaders, ThatAreNotThereAreFound) {
  const test::TempFolder tree;
  const auto write = [&](const std::string& path, const std::string& text) {
    std::filesystem::create_directories((tree.path() / path).parent_path());
    std::ofstream(tree.path() / path) << text;
  };
  write("runtime/ops/rearrange.h", "// As in view.h.\n#include <lua.h>\n");
  write("runtime/ops/alias.cpp", "int x;  // see ops/rearrange.h, arrange.h, range.h\n");
  EXPECT_THAT(find_missing_headers(tree.path()),
              ElementsAre(Breach{"runtime/ops/alias.cpp", 1, "there is no arrange.h"},
                          Breach{"runtime/ops/alias.cpp", 1, "there is no range.h"},
                          Breach{"runtime/ops/rearrange.h", 1, "there is no view.h"}));
}

}  // namespace
}  // namespace ohm::style
