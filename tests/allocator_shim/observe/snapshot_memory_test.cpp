// Reading a snapshot takes at most 1.5 times the memory that the file takes on the disk.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include "allocator_shim/observe/snapshot_reader.h"
#include "tests/support/large_snapshot.h"
#include "tests/support/peak_memory.h"
#include "tests/support/temp_folder.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define OHM_SANITIZED 1
#else
#define OHM_SANITIZED 0
#endif

namespace ohm {
namespace {

using test::LargeSnapshot;

class SnapshotMemory : public testing::TestWithParam<LargeSnapshot> {};

TEST_P(SnapshotMemory, IsAtMostOneAndAHalfTimesTheFile) {
  if (OHM_SANITIZED) GTEST_SKIP() << "the sanitizer's own memory would be measured";
  const test::TempFolder folder;
  const std::string path = folder.file("large.pickle");
  {
    std::ofstream file(path, std::ios::binary);
    test::write_large_snapshot(GetParam(), 300'000, [&](std::string_view bytes) { file << bytes; });
  }
  const auto file_bytes = static_cast<double>(std::filesystem::file_size(path));
  const std::size_t peak = test::peak_memory_of([&] {
    const Snapshot snapshot = read_snapshot_file(path);
    if (snapshot.device_traces.at(0).size() != 300'000) throw std::runtime_error("not all of it");
  });
  RecordProperty("peak_per_file_byte", std::to_string(static_cast<double>(peak) / file_bytes));
  EXPECT_LE(static_cast<double>(peak) / file_bytes, 1.5);
}

INSTANTIATE_TEST_SUITE_P(All, SnapshotMemory,
                         testing::Values(LargeSnapshot::with_frames, LargeSnapshot::without_frames,
                                         LargeSnapshot::different_stacks));

}  // namespace
}  // namespace ohm
