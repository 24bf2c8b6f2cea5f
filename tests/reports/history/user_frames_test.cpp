#include "reports/history/user_frames.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "reports/history/recorded_sites.h"

namespace ohm::reports {
namespace {

constexpr const char* kTorch = "/venv/lib/python3.11/site-packages/torch/functional.py";
constexpr const char* kPytest = "/venv/lib/python3.11/site-packages/_pytest/python.py";
constexpr const char* kEditable = "/opt/layers/src/layers/cache.py";
constexpr const char* kOwnFile = "/repo/tests/test_train.py";

/// Innermost first; lines count from 1.
StackId stack_of(StackTable& tables, const std::vector<std::string>& files) {
  std::vector<FrameId> ids;
  for (const std::string& file : files) {
    StackFrame frame;
    frame.filename = tables.intern(file);
    frame.name = tables.intern("f");
    frame.line = static_cast<int>(ids.size()) + 1;
    ids.push_back(tables.intern(frame));
  }
  return tables.intern(ids);
}

HistorySite site_at(const std::vector<std::string>& files) {
  StackTable tables;
  const StackId stack = stack_of(tables, files);
  RecordedSites sites(tables, true, UserFiles({"/repo"}));
  return sites.at(sites.of(stack));
}

TEST(UserFrames, TheFirstFrameOfTheRepositoryIsNamed) {
  const HistorySite site = site_at({kTorch, kEditable, kOwnFile, "/repo/conftest.py", kPytest});
  EXPECT_EQ(kOwnFile, site.file);
  EXPECT_EQ(3, site.line);
}

TEST(UserFrames, WithoutOneItIsTheFirstThatIsNoLibrarys) {
  EXPECT_EQ(kEditable, site_at({kTorch, kEditable, kPytest}).file);
}

TEST(UserFrames, WithoutAnyItIsTheInnermost) { EXPECT_EQ(kTorch, site_at({kTorch, kPytest}).file); }

TEST(UserFrames, TheLibrarysFramesStandBehindTheUsersLine) {
  StackTable tables;
  const UserFiles files({"/repo"});
  EXPECT_EQ(2u, library_frames(tables, stack_of(tables, {kTorch, kEditable, kOwnFile}), files));
  EXPECT_EQ(2u, library_frames(tables, stack_of(tables, {kTorch, kPytest}), files));
}

TEST(UserFrames, ASnapshotCarriesTheUsersFolders) {
  Snapshot snapshot;
  SnapshotAnnotation note;
  note.name = snapshot.tables.intern("ohm user files in /repo/train_step");
  note.stage = snapshot.tables.intern("START");
  snapshot.external_annotations.push_back(note);
  const UserFiles files = user_files_of(snapshot);
  EXPECT_EQ(Ownership::own, files.ownership("/repo/train_step/a.py"));
  EXPECT_EQ(Ownership::elsewhere, files.ownership("/repo/a.py"));
}

}  // namespace
}  // namespace ohm::reports
