// ohm sweep finds the seeded bugs of tests/golden/sweep.
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "tests/harness/program/program_test.h"
#include "tests/harness/program/sweep_corpus.h"
#include "tests/support/checkout_paths.h"
#include "tests/support/golden.h"
#include "tests/support/schema_check.h"

namespace ohm {
namespace {

using test::corpus;
using test::ProgramResult;
using Json = nlohmann::json;

/// The verdict that each seeded bug has to get; its good twin gets none but good ones.
const std::map<std::string, std::map<std::string, std::string>>& seeded_bugs() {
  static const std::map<std::string, std::map<std::string, std::string>> kBugs = {
      {"errors",
       {{"swallowed_step", "swallowed"},
        {"logged_only", "swallowed"},
        {"default_value", "swallowed"},
        {"host_fallback", "swallowed"},
        {"rank_brings_nothing", "swallowed"},
        {"string_error", "wrong_error"},
        {"assertion", "wrong_error"},
        {"error_in_handler", "wrong_error"},
        {"unchecked_nil", "wrong_error"},
        {"table_error", "wrong_error"},
        {"rank_stays_away", "wrong_error"}}},
      {"memory",
       {{"outputs_kept", "leak"},
        {"error_kept", "leak"},
        {"half_a_cache", "leak"},
        {"in_place", "leak"},
        {"gradients_kept", "leak"},
        {"inspected_kept", "leak"},
        {"suspended", "leak"},
        {"retry_in_handler", "leak"},
        {"retry_with_history", "leak"},
        {"no_room_for_retry", "wrong_error"}}},
      {"training",
       {{"gradient_accumulated", "recovered_different"},
        {"half_applied_step", "recovered_different"},
        {"other_batch", "recovered_different"},
        {"skipped_batch", "swallowed"},
        {"unscaled_halves", "recovered_different"},
        {"learning_rate_lowered", "recovered_different"},
        {"momentum_lost", "recovered_different"},
        {"other_dropout", "recovered_different"}}},
      {"state", {{"autocast_left_on", "corrupt"},     {"gradients_left_off", "corrupt"},
                 {"gradients_set_off", "corrupt"},    {"inference_left_on", "corrupt"},
                 {"memory_left_limited", "corrupt"},  {"benchmark_unread", "corrupt"},
                 {"counter_kept", "corrupt"},         {"flag_left_up", "corrupt"},
                 {"function_kept", "corrupt"},        {"nested_kept", "corrupt"},
                 {"benchmark_left_on", "corrupt"},    {"any_bits_left_on", "corrupt"},
                 {"cudnn_left_off", "corrupt"},       {"stream_left_current", "corrupt"},
                 {"fault_of_its_own", "corrupt"},     {"half_made", "corrupt"},
                 {"nothing_in_its_place", "corrupt"}, {"endless_retry", "hang"},
                 {"endless_halving", "hang"},         {"endless_wait", "hang"}}},
      {"models",
       {{"left_in_evaluation", "corrupt"},
        {"hook_left", "corrupt"},
        {"left_frozen", "corrupt"},
        {"half_step_kept", "corrupt"},
        {"stepped_once_more", "corrupt"},
        {"half_step_of_weights", "corrupt"}}}};
  return kBugs;
}

class SeededBugs : public test::ProgramTest, public testing::WithParamInterface<std::string> {};

TEST_P(SeededBugs, AreFoundAndTheirGoodTwinsAreNot) {
  const ProgramResult ran =
      ohm({"sweep", corpus(GetParam()), "--points", "all", "--form", "both", "--json"});
  EXPECT_EQ(ran.code, 1) << ran.err;
  const Json result = Json::parse(ran.out);
  const Json schema =
      Json::parse(test::read_file(OHM_SOURCE_DIR "/reports/json/ohm.sweep.schema.json"));
  EXPECT_EQ(test::SchemaCheck(schema).errors(result), "");
  std::map<std::string, std::set<std::string>> found;
  for (const Json& variant : result["scenarios"][0]["variants"]) {
    EXPECT_TRUE(variant["error"].is_null()) << variant;
    EXPECT_GT(variant["faults"], 0) << variant["name"];
    found[variant["name"]] = test::bad_verdicts(variant);
  }
  const std::map<std::string, std::string>& bugs = seeded_bugs().at(GetParam());
  EXPECT_EQ(found.size(), 2 * bugs.size());
  for (const auto& [bug, verdict] : bugs) {
    EXPECT_EQ(found[bug + "_bad"], std::set<std::string>{verdict}) << bug;
    EXPECT_EQ(found[bug + "_good"], std::set<std::string>()) << bug;
  }
}

INSTANTIATE_TEST_SUITE_P(Corpus, SeededBugs,
                         testing::Values("errors", "memory", "training", "state", "models"),
                         [](const auto& info) { return info.param; });

TEST(SeededBugCorpus, HasAtLeastThirtyPairsOfSeededBugs) {
  std::size_t pairs = 0;
  for (const auto& [file, bugs] : seeded_bugs()) pairs += bugs.size();
  EXPECT_GE(pairs, 30U);
}

}  // namespace
}  // namespace ohm
