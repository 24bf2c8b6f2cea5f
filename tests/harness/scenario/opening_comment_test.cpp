#include "harness/scenario/opening_comment.h"

#include <gtest/gtest.h>

namespace ohm::engine {
namespace {

constexpr const char* kSource = R"(-- Symptom: "memory grows a little
-- with every iteration."
--
-- A loss holds its graph. What to do: add
-- up numbers.
--
-- It is not the cache.
--
-- Chapter: leaks
-- PyTorch:
--     for x in loader:
--         total += loss.item()
-- Keras: metrics are
--   numbers.

-- not this
local nn = ohm.nn
)";

TEST(OpeningComment, ComesInParts) {
  const OpeningComment comment = opening_comment(kSource);
  EXPECT_EQ(comment.symptom, "memory grows a little with every iteration.");
  EXPECT_EQ(comment.cause, "A loss holds its graph.\nIt is not the cache.");
  EXPECT_EQ(comment.what_to_do, "add up numbers.");
  EXPECT_EQ(comment.chapter, "leaks");
  EXPECT_EQ(comment.pytorch, "for x in loader:\n    total += loss.item()");
  EXPECT_EQ(comment.keras, "metrics are numbers.");
}

TEST(OpeningComment, KeepsQuotationMarksThatDoNotStandAroundAllOfTheSymptom) {
  EXPECT_EQ(opening_comment("-- Symptom: \"inf\", or \"nan\"\n").symptom, "\"inf\", or \"nan\"");
  EXPECT_EQ(opening_comment("-- Symptom: \"inf\" and worse\n").symptom, "\"inf\" and worse");
}

TEST(OpeningComment, IsEmptyWhereTheFileBeginsWithSomethingElse) {
  for (const char* source : {"", "\n-- Symptom: x\n", "local x = 1\n", "--[[ Symptom: x ]]\n"}) {
    const OpeningComment comment = opening_comment(source);
    EXPECT_EQ(comment.symptom + comment.cause + comment.pytorch, "") << source;
  }
}

TEST(OpeningComment, NeedsNoWords) {
  EXPECT_EQ(opening_comment("-- Just a\r\n--   scenario.\r\n").cause, "Just a scenario.");
  EXPECT_EQ(opening_comment("--").cause, "");
}

}  // namespace
}  // namespace ohm::engine
