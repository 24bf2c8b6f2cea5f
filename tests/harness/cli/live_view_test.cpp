#include "harness/cli/live_view.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "allocator_shim/base/bytes.h"

namespace ohm::cli {
namespace {

constexpr auto kMiB = static_cast<std::int64_t>(1_MiB);

TEST(LiveView, DrawsALineForEachGpuAgainstItsCapacity) {
  const std::vector<engine::LiveVariant> variants = {
      {"leak.kept",
       {{40 * kMiB, 64 * kMiB, 64 * kMiB, {8 * kMiB, 16 * kMiB, 64 * kMiB, 40 * kMiB}},
        {kMiB, kMiB, 64 * kMiB, {kMiB}}}},
      {"leak.freed", {}}};
  const std::string blanks(28, ' ');
  EXPECT_EQ(live_text(variants, 200), "leak.kept" + std::string(21, ' ') + "cuda:0 ▁▂█▅" + blanks +
                                          "   40.00 MiB, peak  64.00 MiB of 64.00 MiB\n" + blanks +
                                          "  cuda:1 ▁" + std::string(31, ' ') +
                                          "    1.00 MiB, peak   1.00 MiB of 64.00 MiB\n");
}

TEST(LiveView, KeepsToTheColumnsThatThereAre) {
  std::vector<std::int64_t> history(64, kMiB);
  const std::vector<engine::LiveVariant> variants = {
      {std::string(90, 'n'), {{kMiB, kMiB, 64 * kMiB, history}}}};
  for (const std::size_t columns : {70U, 79U, 99U}) {
    const std::string line = live_text(variants, columns);
    const auto used = std::count_if(line.begin(), line.end(), [](char c) {
      return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
    });
    EXPECT_LE(used, static_cast<std::ptrdiff_t>(columns) + 1) << line;
    EXPECT_NE(line.find(" 1.00 MiB, peak   1.00 MiB of 64.00 MiB\n"), std::string::npos) << line;
  }
  EXPECT_EQ(live_text(variants, 20).find("cuda:0 ▁▁"), std::string::npos);
}

}  // namespace
}  // namespace ohm::cli
