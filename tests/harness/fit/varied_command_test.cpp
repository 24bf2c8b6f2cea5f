#include "harness/fit/varied_command.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>

namespace ohm::engine {
namespace {

using Words = std::vector<std::string>;

TEST(VariedCommand, PlaceholdersComeFirst) {
  const VariedCommand command({"run", "--batch", "8", "{batch}-{batch}.json"}, "batch");
  EXPECT_EQ((Words{"run", "--batch", "8", "16-16.json"}), command.words_at(16));
}

TEST(VariedCommand, OptionsAreSetBothWays) {
  EXPECT_EQ((Words{"run", "--batch", "16", "--batches", "8"}),
            VariedCommand({"run", "--batch", "8", "--batches", "8"}, "batch").words_at(16));
  EXPECT_EQ((Words{"run", "--batch=-1"}),
            VariedCommand({"run", "--batch=8"}, "batch").words_at(-1));
}

TEST(VariedCommand, AssignmentsAreSet) {
  EXPECT_EQ((Words{"run", "data.batch=8", "batch=16"}),
            VariedCommand({"run", "data.batch=8", "batch=8"}, "batch").words_at(16));
  EXPECT_EQ((Words{"run", "data.batch=16"}),
            VariedCommand({"run", "data.batch=8"}, "data.batch").words_at(16));
}

TEST(VariedCommand, AVariableIsSetWhereTheWordsSayNothing) {
  ::setenv("OHM_TEST_BATCH", "8", 1);
  const VariedCommand command({"run"}, "OHM_TEST_BATCH");
  EXPECT_EQ("OHM_TEST_BATCH", command.variable());
  EXPECT_EQ(Words{"run"}, command.words_at(16));
  ::unsetenv("OHM_TEST_BATCH");
  EXPECT_THROW(VariedCommand({"run"}, "OHM_TEST_BATCH"), std::invalid_argument);
}

TEST(VariedCommand, AnOptionWithoutAValueIsNone) {
  EXPECT_THROW(VariedCommand({"run", "--batch"}, "batch"), std::invalid_argument);
}

}  // namespace
}  // namespace ohm::engine
