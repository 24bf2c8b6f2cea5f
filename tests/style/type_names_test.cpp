#include "tests/style/type_names.h"

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

TEST(TypeNames, HaveOneDefinition) {
  EXPECT_THAT(find_types_defined_twice(OHM_SOURCE_DIR), IsEmpty());
}

TEST(TypeNames, ThatAreDefinedTwiceAreFound) {
  const test::TempFolder tree;
  const auto write = [&](const std::string& path, const std::string& text) {
    std::filesystem::create_directories((tree.path() / path).parent_path());
    std::ofstream(tree.path() / path) << text;
  };
  write("harness/gate/limit.h",
        "namespace ohm::engine {\nstruct Line;\nstruct Line {\n  struct Part {};\n};\n"
        "enum class Kind { first };\n}\nnamespace ohm::gate {\nstruct Kind {};\n}\n");
  write("harness/sweep/point.cpp",
        "namespace ohm {\nnamespace engine {\nclass Line final\n    : public Base {};\n"
        "namespace {\nenum class Kind { second };\n}\nvoid part() { struct Part {}; }\n"
        "template <> struct Place<int> {};\n}\n}\n");
  EXPECT_THAT(
      find_types_defined_twice(tree.path()),
      ElementsAre(
          Breach{"harness/gate/limit.h", 3, "ohm::engine::Line has another definition"},
          Breach{"harness/sweep/point.cpp", 4, "ohm::engine::Line has another definition"}));
}

}  // namespace
}  // namespace ohm::style
