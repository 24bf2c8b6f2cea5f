#include "harness/machine/snapshot_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <stdexcept>
#include <string>

#include "allocator_shim/snapshot/snapshot_reader.h"
#include "tests/support/golden.h"
#include "tests/support/temp_folder.h"

namespace ohm::engine {
namespace {

namespace fs = std::filesystem;
using testing::EndsWith;

/// In a folder of its own, which is the current one as long as the test runs.
class SnapshotFile : public testing::Test {
 protected:
  SnapshotFile() : came_from_(fs::current_path()) { fs::current_path(folder_.path()); }
  ~SnapshotFile() override { fs::current_path(came_from_); }

  static std::string refusal(const std::string& path) {
    try {
      check_script_snapshot_path(path);
      return "accepted";
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
  }

  test::TempFolder folder_;
  fs::path came_from_;
};

TEST_F(SnapshotFile, HoldsTheWholeSnapshotOrIsNotTouched) {
  Snapshot snapshot;
  snapshot.device_traces.resize(3);
  write_snapshot_file(snapshot, "x.pickle");
  EXPECT_EQ(read_snapshot_file("x.pickle").device_traces.size(), 3U);
  EXPECT_THROW(write_snapshot_file(snapshot, "missing/x.pickle"), std::runtime_error);
  EXPECT_THROW(write_snapshot_file(snapshot, "/dev/full"), std::runtime_error);
  EXPECT_EQ(std::distance(fs::directory_iterator("."), fs::directory_iterator()), 1);
}

TEST_F(SnapshotFile, OfAScriptStaysInTheCurrentFolder) {
  fs::create_directory("below");
  fs::create_directory_symlink("/tmp", "leads_out");
  EXPECT_EQ(refusal("x.pickle"), "accepted");
  EXPECT_EQ(refusal("below/x.pickle"), "accepted");
  EXPECT_EQ(refusal("below/../x.pickle"), "accepted");
  const char* const kElsewhere =
      "snapshots of scripts go to the current folder or below it (--snapshot writes anywhere)";
  EXPECT_THAT(refusal("../x.pickle"), EndsWith(kElsewhere));
  EXPECT_THAT(refusal("/tmp/x.pickle"), EndsWith(kElsewhere));
  EXPECT_THAT(refusal("leads_out/x.pickle"), EndsWith(kElsewhere));
  EXPECT_THAT(refusal((folder_.path() / "x.pickle").string()), EndsWith(kElsewhere));
  EXPECT_EQ(refusal("missing/x.pickle"),
            "a script may not write missing/x.pickle: its folder: No such file or directory");
}

TEST_F(SnapshotFile, OfAScriptHasTheNameOfASnapshot) {
  for (const char* path : {"", "x", "x.lua", ".pickle", "x.pickle/", "x.pickle.bak"}) {
    EXPECT_THAT(refusal(path), EndsWith("the name of a snapshot ends in .pickle")) << path;
  }
}

TEST_F(SnapshotFile, OfAScriptReplacesSnapshotsOnly) {
  folder_.write("notes.pickle", "not a snapshot");
  folder_.write("model.pickle", "\x80\x04N.");
  folder_.write("taken.pickle",
                test::read_file(test::golden_path("snapshots/linear_no_grad.pickle")));
  fs::create_symlink("taken.pickle", "link.pickle");
  fs::create_symlink("nowhere", "broken_link.pickle");
  fs::create_directory("folder.pickle");
  EXPECT_EQ(refusal("taken.pickle"), "accepted");
  EXPECT_THAT(refusal("notes.pickle"), EndsWith("it exists and is not a memory snapshot"));
  EXPECT_THAT(refusal("model.pickle"), EndsWith("it exists and is not a memory snapshot"));
  for (const char* path : {"link.pickle", "broken_link.pickle", "folder.pickle"}) {
    EXPECT_THAT(refusal(path), EndsWith("it exists and is not a regular file")) << path;
  }
}

}  // namespace
}  // namespace ohm::engine
