#include "allocator_shim/base/whole_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <system_error>
#include <thread>

#include "tests/support/temp_folder.h"

namespace ohm {
namespace {

int reason_of(const std::string& path) {
  try {
    read_whole_file(path);
    return 0;
  } catch (const std::system_error& error) {
    return error.code().value();
  }
}

TEST(WholeFile, IsReadToItsEnd) {
  const test::TempFolder folder;
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{100'000}}) {
    const std::string text(bytes, '\x01');
    folder.write("file", text);
    EXPECT_EQ(text, read_whole_file(folder.file("file")));
  }
}

TEST(WholeFile, OfUnknownSizeIsReadToItsEnd) {
  const test::TempFolder folder;
  const std::string path = folder.file("pipe");
  ASSERT_EQ(0, ::mkfifo(path.c_str(), 0600));
  const std::string text(100'000, 'a');
  std::thread writer([&] { folder.write("pipe", text); });
  EXPECT_EQ(text, read_whole_file(path));
  writer.join();
}

TEST(WholeFile, ThatADeviceGivesWithoutAnEndIsRefusedSoon) {
  try {
    read_whole_file("/dev/zero");
    FAIL();
  } catch (const std::system_error& error) {
    EXPECT_STREQ("it goes on after 16.00 MiB, which no file of ohm's is: name another one",
                 error.what());
  }
  EXPECT_EQ("", read_whole_file("/dev/null"));
}

TEST(WholeFile, IsRefusedWithTheReason) {
  const test::TempFolder folder;
  EXPECT_EQ(ENOENT, reason_of(folder.file("gone")));
  EXPECT_EQ(EISDIR, reason_of(folder.path().string()));
}

}  // namespace
}  // namespace ohm
