// Reading a snapshot takes at most 1.5 times the memory that the file takes on the disk.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include "allocator_shim/snapshot/snapshot_reader.h"
#include "tests/support/golden.h"
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

using namespace std::string_literals;
using test::LargeSnapshot;

void read_a_small_one() {
  read_snapshot_file(test::golden_path("snapshots/linear_no_grad.pickle"));
}

class SnapshotMemory : public testing::TestWithParam<LargeSnapshot> {};

TEST_P(SnapshotMemory, IsAtMostOneAndAHalfTimesTheFile) {
  if (OHM_SANITIZED) GTEST_SKIP() << "the sanitizer's own memory would be measured";
  const test::TempFolder folder;
  const std::string path = folder.file("large.pickle");
  {
    std::ofstream file(path, std::ios::binary);
    test::write_large_snapshot(GetParam(), 100'000, [&](std::string_view bytes) { file << bytes; });
  }
  const auto file_bytes = static_cast<double>(std::filesystem::file_size(path));
  const std::size_t peak = test::peak_memory_of(read_a_small_one, [&] {
    const Snapshot snapshot = read_snapshot_file(path);
    if (snapshot.device_traces.at(0).size() != 100'000) throw std::runtime_error("not all of it");
  });
  RecordProperty("peak_per_file_byte", std::to_string(static_cast<double>(peak) / file_bytes));
  EXPECT_LE(static_cast<double>(peak) / file_bytes, 1.5);
}

struct Bomb {
  const char* name;
  std::string begin, middle, end;  ///< of a file of 8 MB; the middle again and again
};

// Files that were made to fill memory are refused, or need no more than a few times their size.
TEST(HostileSnapshot, TakesLittleMemory) {
  if (OHM_SANITIZED) GTEST_SKIP() << "the sanitizer's own memory would be measured";
  const std::string items_of_one_list = [] {
    std::string all = "(";
    for (int i = 0; i < 500; ++i) all += "](]e";
    return all + "l";
  }();
  const Bomb bombs[] = {
      {"values", "\x80\x04", "N", "."},
      {"lists", "\x80\x04", "]", "."},
      {"memo", "\x80\x04](", "]\x94", "e."},
      {"lists of lists", "\x80\x04](", items_of_one_list, "e."},
      {"pools", "\x80\x04](", "(M\x01\xFFM\x02\xFF\x86J\x01\x01\x01\x01K\x03\x86l", "e."},
      {"frames",
       "\x80\x04}\x94(\x8C\x04name\x94\x8C\x01x\x94\x8C\x08"
       "filename\x94h\x02u](",
       "h\x00"s, "e."},
      {"long text", "\x80\x04\x8D\xFF\xFF\xFF\xFF\xFF\x00\x00\x00"s, "text", "."},
  };
  constexpr std::size_t kFileBytes = 8'000'000;
  for (const Bomb& bomb : bombs) {
    const test::TempFolder folder;
    std::string bytes = bomb.begin;
    while (bytes.size() < kFileBytes) bytes += bomb.middle;
    const std::string path = folder.write("bomb.pickle", bytes + bomb.end);
    bytes = {};
    const std::size_t peak = test::peak_memory_of(read_a_small_one, [&] {
      try {
        read_snapshot_file(path);
      } catch (const PickleError&) {
        return;
      }
      throw std::runtime_error("was read");
    });
    EXPECT_LE(static_cast<double>(peak) / kFileBytes, 4) << bomb.name;
  }
}

INSTANTIATE_TEST_SUITE_P(All, SnapshotMemory,
                         testing::Values(LargeSnapshot::with_frames, LargeSnapshot::without_frames,
                                         LargeSnapshot::different_stacks));

}  // namespace
}  // namespace ohm
