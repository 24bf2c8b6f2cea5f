#include "harness/sweep/command/recovery_notes.h"

namespace ohm::engine {

std::vector<RecoveryNote> recovery_notes(const FaultTask& task, const std::string& plan,
                                         const CommandOutcome& outcome,
                                         const CommandOutcome& fault_free) {
  std::vector<RecoveryNote> notes;
  const auto add = [&](RecoveryDeviation deviation) -> RecoveryNote& {
    const auto call = static_cast<std::int64_t>(task.call) + 1;
    return notes.emplace_back(RecoveryNote{deviation, 1, plan, task.form, call, {}, 0});
  };
  if (!fault_free.checked) {
    const bool is_granted_less = outcome.calls - outcome.failures < fault_free.calls;
    if (is_granted_less) add(RecoveryDeviation::fewer_requests);
  }
  if (outcome.more_when_again != 0) {
    add(RecoveryDeviation::more_when_made_again).bytes = outcome.more_when_again;
  }
  return notes;
}

}  // namespace ohm::engine
