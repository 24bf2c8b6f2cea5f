#include "harness/scenario/snapshot_paths.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/temp_folder.h"

namespace ohm::engine {
namespace {

const std::vector<std::string> kOneFile = {"scenarios/leak.lua"};
const std::vector<std::string> kTwoFiles = {"scenarios/leak.lua", "scenarios/other.lua"};

std::string refusal(const std::string& pattern, const std::vector<std::string>& files) {
  try {
    const SnapshotPaths paths(pattern, files);
    return "accepted";
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
}

TEST(SnapshotPaths, TakesAPlainPathAsItIs) {
  const SnapshotPaths paths("out/x.pickle", kOneFile);
  EXPECT_EQ(paths.path_for("scenarios/leak.lua", "item"), "out/x.pickle");
  EXPECT_FALSE(paths.tells_variants_apart());
}

TEST(SnapshotPaths, PutsScenarioAndVariantWhereTheyAreAskedFor) {
  const SnapshotPaths paths("{variant}/{scenario}-{variant}.p", kTwoFiles);
  EXPECT_EQ(paths.path_for("scenarios/leak.lua", "item"), "item/leak-item.p");
  EXPECT_EQ(paths.path_for("other.lua", "{variant}"), "{variant}/other-{variant}.p");
  EXPECT_TRUE(paths.tells_variants_apart());
}

TEST(SnapshotPaths, NamesTheFilesOfAFolder) {
  const test::TempFolder folder;
  const std::string path = folder.path().string();
  EXPECT_EQ(SnapshotPaths(path, kTwoFiles).path_for("a/leak.lua", "item"),
            path + "/leak.item.pickle");
  EXPECT_EQ(SnapshotPaths("new/", kOneFile).path_for("leak.lua", "item"), "new/leak.item.pickle");
}

TEST(SnapshotPaths, RefusesOneNameForTwoScenarios) {
  EXPECT_EQ(refusal("x.pickle", kTwoFiles),
            "the snapshots of scenarios/leak.lua and scenarios/other.lua would have the same path; "
            "add {scenario} to it, or run one of them");
  EXPECT_EQ(refusal("{scenario}.{variant}", {"a/leak.lua", "b/leak.lua"}),
            "the snapshots of a/leak.lua and b/leak.lua would have the same path; add {scenario} "
            "to it, or run one of them");
  EXPECT_EQ(refusal("x.pickle", {"leak.lua", "leak.lua"}), "accepted");
}

TEST(SnapshotPaths, RefusesWhatIsNoPath) {
  EXPECT_EQ(refusal("", kOneFile), "the path is empty");
  EXPECT_EQ(refusal("-", kOneFile), "a snapshot goes to a file, not to standard output");
  EXPECT_EQ(refusal("{case}.pickle", kOneFile),
            "\"{case}\": only {scenario} and {variant} may be in braces");
  EXPECT_EQ(refusal("a{", kOneFile), "\"{\": only {scenario} and {variant} may be in braces");
}

}  // namespace
}  // namespace ohm::engine
