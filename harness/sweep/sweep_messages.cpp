#include "harness/sweep/sweep_messages.h"

#include "harness/process/ipc_serialization.h"
#include "harness/run/returned_value_message.h"
#include "reports/model/fields.h"

namespace ohm::engine {

template <class Archive, Is<TrialVerdict> T>
void fields(Archive& archive, T& verdict) {
  archive(verdict.verdict, verdict.handled, verdict.benign, verdict.ended_at_failure, verdict.what,
          verdict.peak_bytes, verdict.repeated_calls, verdict.state_key, verdict.interpreter,
          verdict.file, verdict.line, verdict.stack, verdict.errors);
}

template <class Archive, Is<ChainVerdict> T>
void fields(Archive& archive, T& chain) {
  archive(chain.point, chain.occurrence, chain.verdict);
}

template <class Archive, Is<TaskVerdict> T>
void fields(Archive& archive, T& task) {
  archive(task.verdict, task.chains, task.notes, task.seconds_before);
}

template <class Archive, Is<TrialEnding> T>
void fields(Archive& archive, T& ending) {
  archive(ending.outcome, ending.is_injected, ending.message, ending.values);
}

template <class Archive, Is<RecordedCalls> T>
void fields(Archive& archive, T& calls) {
  archive(calls.points, calls.kinds, calls.bytes, calls.can_be_copied);
}

template <class Archive, Is<SiteBytes> T>
void fields(Archive& archive, T& held) {
  archive(held.bytes, held.blocks);
}

template <class Archive, Is<ModuleCounts> T>
void fields(Archive& archive, T& counts) {
  archive(counts.evaluating, counts.hooks, counts.frozen_parameters);
}

template <class Archive, Is<ProgramSetting> T>
void fields(Archive& archive, T& setting) {
  archive(setting.name, setting.value);
}

template <class Archive, Is<EndState> T>
void fields(Archive& archive, T& left) {
  archive(left.modes, left.memory_limits, left.settings, left.memory);
}

template <class Archive, Is<FaultFreeRun> T>
void fields(Archive& archive, T& run) {
  archive(run.ending, run.calls, run.points, run.hashes, run.left, run.built_on, run.later,
          run.memory_later, run.modules_later, run.peak_bytes, run.seconds);
}

template <class Archive, Is<GroupCost> T>
void fields(Archive& archive, T& cost) {
  archive(cost.seconds, cost.name);
}

std::string encoded(const FaultFreeRun& run) { return encoded_message(run); }
std::string encoded(const std::vector<TaskVerdict>& verdicts) { return encoded_message(verdicts); }
std::string encoded(const GroupCost& cost) { return encoded_message(cost); }

FaultFreeRun decoded_fault_free_run(std::string_view bytes) {
  return decoded_message<FaultFreeRun>(bytes);
}
std::vector<TaskVerdict> decoded_verdicts(std::string_view bytes) {
  return decoded_message<std::vector<TaskVerdict>>(bytes);
}
GroupCost decoded_group_cost(std::string_view bytes) { return decoded_message<GroupCost>(bytes); }

}  // namespace ohm::engine
