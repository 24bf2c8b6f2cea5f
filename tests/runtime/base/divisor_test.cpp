#include "runtime/base/divisor.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

namespace ohm {
namespace {

TEST(Divisor, DividesAsTheProcessorDoes) {
  constexpr std::int64_t kMost32 = std::numeric_limits<std::uint32_t>::max();
  constexpr std::int64_t kMost64 = std::numeric_limits<std::int64_t>::max();
  std::vector<std::int64_t> numbers = {
      0,           1,           2,       3,        7,         kMost32 - 1, kMost32,
      kMost64,     -1,          -1000,   641,      6'700'417, 65'535,      2'147'483'647,
      kMost32 + 1, kMost32 + 2, 1 << 20, 1'000'003};
  for (std::int64_t n = 4'294'000'000; n < kMost32; n += 99'991) numbers.push_back(n);
  for (const std::int64_t by : numbers) {
    if (by == 0) continue;
    const Divisor divisor(by);
    EXPECT_EQ(divisor, by);
    for (const std::int64_t number : numbers) {
      ASSERT_EQ(number / divisor, number / by) << number << " / " << by;
      ASSERT_EQ(number % divisor, number % by) << number << " % " << by;
    }
  }
}

}  // namespace
}  // namespace ohm
