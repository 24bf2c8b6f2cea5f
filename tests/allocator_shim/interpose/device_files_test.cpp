// The driver's files in /dev, as programs look for them before they use CUDA.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

namespace ohm::interpose {
namespace {

TEST(DeviceFiles, AreThereForEachGpuAndTheDriver) {
  struct stat status = {};
  ASSERT_EQ(stat("/dev/nvidia0", &status), 0);
  EXPECT_TRUE(S_ISCHR(status.st_mode));
  EXPECT_EQ(major(status.st_rdev), 195);
  EXPECT_EQ(minor(status.st_rdev), 0);
  ASSERT_EQ(stat("/dev/nvidiactl", &status), 0);
  EXPECT_EQ(minor(status.st_rdev), 255);
  EXPECT_EQ(access("/dev/nvidia0", R_OK | W_OK), 0);
  EXPECT_EQ(access("/dev/nvidia0", X_OK), -1);
}

TEST(DeviceFiles, AreNoOthers) {
  struct stat status = {};
  for (const char* path : {"/dev/nvidia999", "/dev/nvidia", "/dev/nvidia0x", "/dev/nvidia-1",
                           "/dev/nvidiactl/0", "/dev/nvidia0/0", "/dev/none"}) {
    errno = 0;
    EXPECT_EQ(stat(path, &status), -1) << path;
    EXPECT_TRUE(errno == ENOENT || errno == ENOTDIR) << path;
    EXPECT_EQ(access(path, F_OK), -1) << path;
  }
  EXPECT_EQ(stat("/dev/null", &status), 0);
  EXPECT_EQ(major(status.st_rdev), 1);
}

TEST(DeviceFiles, AreListedOnlyWhereTheyAreOnThisMachine) {
  const bool is_real = syscall(SYS_faccessat, AT_FDCWD, "/dev/nvidia0", F_OK) == 0;
  const std::filesystem::directory_iterator entries("/dev");
  EXPECT_EQ(std::any_of(begin(entries), end(entries),
                        [](const auto& entry) { return entry.path() == "/dev/nvidia0"; }),
            is_real);
}

}  // namespace
}  // namespace ohm::interpose
