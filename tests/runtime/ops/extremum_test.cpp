// Extrema of what is not all numbers, as PyTorch has them.
#include "runtime/ops/extremum.h"
#include "runtime/ops/view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/ops/order_statistics.h"
#include "runtime/ops/searching.h"
#include "tests/support/test_machine.h"

namespace ohm::test {
namespace {

using testing::ElementsAre;
using testing::IsNan;

class Extremum : public testing::Test {
 protected:
  TestMachine machine_{{.values = ValueMode::keeps_values}};
  Tensor rows_ = from_values({3, std::nan(""), 1, std::nan(""), 5, 4, 4, 5}, {2, 4},
                             {DType::float32, Device::cuda(0)});
};

TEST_F(Extremum, TheFirstNanIsBothTheLargestAndTheSmallestOfItsLine) {
  for (const bool largest : {true, false}) {
    const auto [values, places] = largest ? ops::max(rows_, 1, false) : ops::min(rows_, 1, false);
    EXPECT_THAT(to_doubles(values), ElementsAre(IsNan(), largest ? 5 : 4));
    EXPECT_THAT(to_doubles(places), ElementsAre(1, largest ? 0 : 1));
    const Tensor found = largest ? ops::argmax(rows_, 1, false) : ops::argmin(rows_, 1, false);
    EXPECT_THAT(to_doubles(found), ElementsAre(1, largest ? 0 : 1));
  }
}

// Beyond 2^53 doubles have no odd numbers.
TEST_F(Extremum, LargeIntegersAreOrderedExactly) {
  constexpr std::int64_t kLarge = std::int64_t{1} << 53;
  const Tensor odd = full({3}, static_cast<double>(kLarge), {DType::int64, Device::cuda(0)});
  for (std::int64_t i = 0; i < 3; ++i) odd.data<std::int64_t>()[i] += (i * 2 + 1) % 4;  // 1, 3, 1
  const Tensor sorted = ops::sort(odd, 0, true).first;
  EXPECT_THAT(to_integers(sorted), ElementsAre(kLarge + 3, kLarge + 1, kLarge + 1));
  EXPECT_THAT(to_integers(ops::topk(odd, 1, 0, true).first), ElementsAre(kLarge + 3));
  EXPECT_THAT(to_integers(ops::kthvalue(odd, 3, 0, false).first), ElementsAre(kLarge + 3));
  EXPECT_THAT(to_integers(ops::mode(odd, 0, false).first), ElementsAre(kLarge + 1));
  const Tensor row = ops::sort(odd, 0, false).first;
  EXPECT_THAT(to_integers(ops::bucketize(odd, row, false, false)), ElementsAre(0, 2, 0));
  EXPECT_THAT(to_integers(ops::bucketize(odd, row, false, true)), ElementsAre(2, 3, 2));
}

TEST_F(Extremum, NanIsTheLargestForSorts) {
  EXPECT_THAT(to_doubles(ops::sort(rows_, 1, false).second), ElementsAre(2, 0, 1, 3, 1, 2, 0, 3));
  EXPECT_THAT(to_doubles(ops::topk(rows_, 2, 1, false).second), ElementsAre(2, 0, 1, 2));
  EXPECT_THAT(to_doubles(ops::topk(rows_, 2, 1, true).second), ElementsAre(1, 3, 0, 3));
}

// The result has the layout of what is sorted.
TEST_F(Extremum, SortsATransposedMatrix) {
  const Tensor matrix = from_values({3, 1, 2, 5}, {2, 2}, {DType::float32, Device::cuda(0)});
  const auto [sorted, places] = ops::sort(ops::transpose(matrix, 0, 1), 1, false);
  EXPECT_THAT(to_doubles(sorted), ElementsAre(2, 3, 1, 5));
  EXPECT_THAT(to_doubles(places), ElementsAre(1, 0, 0, 1));
}

}  // namespace
}  // namespace ohm::test
