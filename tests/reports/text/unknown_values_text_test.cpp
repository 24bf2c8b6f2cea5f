#include "reports/text/unknown_values_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ohm::reports {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

UnknownValueResult read_at(UnknownUse kind, int line, std::int64_t order = 0) {
  UnknownValueResult read;
  read.kind = kind;
  read.file = "train.py";
  read.line = line;
  read.order = order;
  return read;
}

VariantResult variant_with(std::vector<UnknownValueResult> reads) {
  VariantResult variant;
  variant.unknown_values = std::move(reads);
  return variant;
}

TEST(UnknownValueLines, AreOfShapesThenOfBranchesThenOfValues) {
  VariantResult variant =
      variant_with({read_at(UnknownUse::value, 3), read_at(UnknownUse::branch, 14),
                    read_at(UnknownUse::shape, 9)});
  variant.unknown_values[2].detail = "0 of 16,777,216 rows selected";
  EXPECT_THAT(unknown_value_lines(variant),
              ElementsAre("shape at train.py:9 depends on values that were not computed (0 of "
                          "16,777,216 rows selected)",
                          "branch at train.py:14 depends on values that were not computed",
                          "value at train.py:3 depends on values that were not computed"));
}

TEST(UnknownValueLines, AreAtMostThreeInTheOrderOfTheirFirstOccurrence) {
  std::vector<UnknownValueResult> reads;
  for (int line = 9; line > 2; --line) reads.push_back(read_at(UnknownUse::shape, line));
  EXPECT_THAT(
      unknown_value_lines(reads),
      ElementsAre("shape at train.py:9 depends on values that were not computed",
                  "shape at train.py:8 depends on values that were not computed",
                  "shape at train.py:7 depends on values that were not computed, and 4 more"));
}

TEST(UnknownValueLines, OfAProgramThatFailedBeginWithItsLastRead) {
  VariantResult variant =
      variant_with({read_at(UnknownUse::shape, 9, 5), read_at(UnknownUse::branch, 14, 7)});
  variant.error.emplace();
  EXPECT_THAT(
      unknown_value_lines(variant),
      ElementsAre("the last value read before the error was not computed: branch at train.py:14",
                  "shape at train.py:9 depends on values that were not computed"));
}

TEST(UnknownValueLines, OfSeveralProcessesNameEachLineOnce) {
  RunResult result;
  for (int rank = 0; rank < 2; ++rank) {
    result.scenarios.emplace_back().variants.push_back(
        variant_with({read_at(UnknownUse::shape, 9)}));
  }
  EXPECT_THAT(unknown_value_lines(result),
              ElementsAre("shape at train.py:9 depends on values that were not computed"));
}

TEST(UnknownValueLines, AreNoneWithoutReads) {
  EXPECT_THAT(unknown_value_lines(RunResult()), IsEmpty());
  VariantResult failed;
  failed.error.emplace();
  EXPECT_THAT(unknown_value_lines(failed), IsEmpty());
}

TEST(OperatorsThatWereNotComputed, AreNamedWithTheMostOftenCalledFirst) {
  EXPECT_EQ("", not_computed_line({}));
  EXPECT_EQ("not computed on the CPU: poisson (1,200 calls), binomial (1 call)",
            not_computed_line({{"binomial", 1}, {"poisson", 1200}}));
  EXPECT_EQ(
      "not computed on the CPU: g (2 calls), a (1 call), b (1 call), c (1 call), d (1 call) and 2 "
      "more",
      not_computed_line({{"a", 1}, {"b", 1}, {"c", 1}, {"d", 1}, {"e", 1}, {"f", 1}, {"g", 2}}));
}

}  // namespace
}  // namespace ohm::reports
