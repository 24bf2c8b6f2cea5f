#include "reports/text/user_files.h"

#include <gtest/gtest.h>

namespace ohm::reports {
namespace {

TEST(UserFiles, WhatLiesInTheRepositoryIsOwn) {
  const UserFiles files({"/home/me/project"});
  EXPECT_EQ(Ownership::own, files.ownership("/home/me/project/train.py"));
  EXPECT_EQ(Ownership::own, files.ownership("/home/me/project/third_party/layers.py"));
  EXPECT_EQ(Ownership::elsewhere, files.ownership("/home/me/projects/train.py"));
  EXPECT_EQ(Ownership::elsewhere, files.ownership("/tmp/torchinductor_me/ab/cab.py"));
}

TEST(UserFiles, AnEnvironmentWithinTheRepositoryIsALibrary) {
  const UserFiles files({"/home/me/project/"});
  EXPECT_EQ(Ownership::library,
            files.ownership("/home/me/project/.venv/lib/python3.11/site-packages/timm/vit.py"));
  EXPECT_EQ(Ownership::library,
            files.ownership("/home/me/project/env/lib/python3.11/contextlib.py"));
}

TEST(UserFiles, ARepositoryMayBeNamedAsLibrariesAre) {
  const UserFiles files({"/data/torch", "/srv/my-packages/lib/python-jobs"});
  EXPECT_EQ(Ownership::own, files.ownership("/data/torch/train.py"));
  EXPECT_EQ(Ownership::own, files.ownership("/srv/my-packages/lib/python-jobs/train.py"));
}

TEST(UserFiles, TheRecorderIsALibraryWhereverItLies) {
  const UserFiles files({"/home/me/ohm"});
  EXPECT_EQ(Ownership::library, files.ownership("/home/me/ohm/build/harness/record/ohm_known.py"));
  EXPECT_EQ(Ownership::library, UserFiles().ownership("/opt/ohm/record/sitecustomize.py"));
}

TEST(UserFiles, ANotebooksCellsAreOwn) {
  const UserFiles files({"/home/me/project"});
  EXPECT_EQ(Ownership::own, files.ownership("/tmp/ipykernel_12/34.py"));
  EXPECT_EQ(Ownership::own, files.ownership("<ipython-input-3-ab>"));
  EXPECT_EQ(Ownership::library, files.ownership("<frozen runpy>"));
}

TEST(UserFiles, WithoutFoldersWhatIsNoLibrarysIsOwn) {
  EXPECT_EQ(Ownership::own, UserFiles().ownership("/anywhere/train.py"));
  EXPECT_EQ(Ownership::library, UserFiles().ownership("/usr/lib/python3.11/runpy.py"));
}

}  // namespace
}  // namespace ohm::reports
