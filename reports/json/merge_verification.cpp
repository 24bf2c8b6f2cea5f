#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "reports/json/merge_turns.h"
#include "reports/json/result_reader.h"
#include "reports/json/verification_json.h"
#include "reports/text/card_text.h"
#include "reports/text/json_text.h"

namespace ohm::reports {
namespace {

using Json = nlohmann::json;

/// Throws for what no verification writes.
VerificationResult result_of_part(const ShardPart& part) {
  try {
    return verification_of(part.json);
  } catch (const ResultError& error) {
    refuse(part, error.what());
  }
}

/// Throws unless the part is of one card, as shards are.
const Json& table_of(const ShardPart& part) {
  const Json& cards = list_of(part.json, "cards", part);
  if (cards.size() != 1) refuse(part, "a shard is of one card");
  return cards[0];
}

/// Merging never clears the 'interrupted' flag.
void note_interruption(ShardPart& sum, const ShardPart& more) {
  const ExitReason interrupted = ExitReason::interrupted;
  if (exit_reason_of(more) == interrupted) {
    sum.json.at("exit_reason") = exit_code(interrupted).reason;
  }
}

/// Of the cards that are there now: the exit reason, and what is computed of all variants.
void compute_again(ShardPart& sum) {
  VerificationResult result = result_of_part(sum);
  result.shard.reset();
  if (result.exit_reason != ExitReason::interrupted) result.exit_reason = exit_reason_of(result);
  sum.json = verification_object(result);
}

/// The variants of the shards of one card.
class VerificationMerge final : public ShardMerge {
 public:
  void begin(ShardPart& sum) override { take(sum); }
  void add(ShardPart& sum, ShardPart& part) override {
    require_equal(table_of(sum), table_of(part), "card", part);
    note_interruption(sum, part);
    take(part);
  }
  void finish(ShardPart& sum) override {
    sum.json.at("cards")[0].at("variants") = variants_.in_order(sum);
    compute_again(sum);
  }

 private:
  void take(ShardPart& part) {
    result_of_part(part);
    table_of(part);
    Json& variants = part.json.at("cards")[0].at("variants");
    variants_.take(count_of(part.json.at("shard"), "number", part),
                   std::vector<Json>(std::make_move_iterator(variants.begin()),
                                     std::make_move_iterator(variants.end())));
  }

  DealtPieces variants_;
};

}  // namespace

std::unique_ptr<ShardMerge> merge_of_verifications() {
  return std::make_unique<VerificationMerge>();
}

MergeSubject card_of_part(const ShardPart& part) {
  MergeSubject subject;
  for (const CardVerification& table : result_of_part(part).cards) {
    subject.text += (subject.text.empty() ? "" : "; ") + card_and_library_text(table.card);
  }
  for (const Json& table : part.json.at("cards")) subject.key += json_line(table.at("card")) + "\n";
  return subject;
}

void join_cards(ShardPart& sum, ShardPart& more) {
  result_of_part(sum);
  Json& cards = sum.json.at("cards");
  for (Json& table : more.json.at("cards")) {
    const bool is_there = std::any_of(cards.begin(), cards.end(), [&](const Json& one) {
      return one.at("card") == table.at("card");
    });
    if (is_there) refuse(more, fmt::format("{} is in {}, too", card_of_part(more).text, sum.name));
    cards.push_back(std::move(table));
  }
  note_interruption(sum, more);
  // Whatever the order of the files.
  std::sort(cards.begin(), cards.end(), [](const Json& a, const Json& b) {
    return json_line(a.at("card")) < json_line(b.at("card"));
  });
  compute_again(sum);
}

}  // namespace ohm::reports
