#include "harness/sweep/recovery_sums.h"

#include <map>
#include <utility>

namespace ohm::engine {

std::vector<RecoveryNote> sum_of_notes(const std::vector<std::optional<TaskVerdict>>& faults) {
  std::map<RecoveryDeviation, RecoveryNote> sums;
  for (const std::optional<TaskVerdict>& fault : faults) {
    if (!fault) continue;
    for (const RecoveryNote& note : fault->notes) {
      const auto [sum, is_first] = sums.emplace(note.deviation, note);
      if (!is_first) sum->second = sum_of(sum->second, note);
    }
  }
  std::vector<RecoveryNote> all;
  for (auto& [deviation, sum] : sums) all.push_back(std::move(sum));
  return all;
}

}  // namespace ohm::engine
