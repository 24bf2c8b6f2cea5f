#include "harness/fit/varied_recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <new>
#include <string_view>
#include <utility>

#include "allocator_shim/base/base_name.h"
#include "allocator_shim/snapshot/snapshot_reader.h"
#include "reports/history/recorded_steps.h"

namespace ohm::engine {

namespace {

Snapshot snapshot_in(const std::string& file) {
  try {
    return read_snapshot_file(file);
  } catch (const std::bad_alloc&) {
    throw;  // of the machine, not of the file
  } catch (const std::exception& error) {
    throw RecordingError(error.what());
  }
}

void refuse_out_of_memory(const DeviceHistory& history, const std::string& file) {
  const auto oom =
      std::find_if(history.events.begin(), history.events.end(),
                   [](const MemoryEvent& event) { return event.action == EventAction::oom; });
  if (oom == history.events.end()) return;
  throw RecordingError(
      fmt::format("{}: ran out of memory on cuda:{} at event {}: what would have followed was not "
                  "recorded. Record a smaller value",
                  file, history.device, oom - history.events.begin()));
}

std::vector<StackId> stacks_of(const VerifiedHistory& history, const Snapshot& snapshot,
                               CommonStacks& stacks) {
  const auto device = static_cast<std::size_t>(history.history().device);
  std::vector<StackId> of_lives;
  for (const BlockLife& life : history.lives().lives) {
    of_lives.push_back(life.began_before()
                           ? kNoStack
                           : stacks.id_of(snapshot.device_traces[device][life.allocated_at].stack,
                                          snapshot.tables));
  }
  return of_lives;
}

/// As harness/record/ohm_job_recorder.py writes it.
std::string origin_in(const Snapshot& snapshot, int device) {
  constexpr std::string_view kOrigin = "ohm record on ";
  for (const SnapshotAnnotation& annotation : snapshot.external_annotations) {
    const std::string_view name = snapshot.tables.text(annotation.name);
    if (annotation.device == device && name.starts_with(kOrigin)) {
      return std::string(name.substr(kOrigin.size()));
    }
  }
  return "";
}

RecordedGpu recorded_gpu(DeviceHistory history, const Snapshot& snapshot, const std::string& file,
                         const RuleSet& rules, CommonStacks& stacks) {
  refuse_out_of_memory(history, file);
  VerifiedHistory verified(std::move(history), rules);
  if (verified.disagreement()) {
    throw RecordingError(
        fmt::format("{}: {}'s allocator does not reproduce the recording, so it cannot predict "
                    "other sizes: {}. See ohm replay {} --verify; --rules names another version",
                    file, rules.name, verified.disagreement()->summary, file));
  }
  const auto device = static_cast<std::size_t>(verified.history().device);
  std::vector<StackId> of_lives = stacks_of(verified, snapshot, stacks);
  return {std::move(verified), std::move(of_lives), reports::marked_step_ends(snapshot, device),
          origin_in(snapshot, static_cast<int>(device))};
}

}  // namespace

StackId CommonStacks::id_of(StackId stack, const StackTable& tables) {
  std::vector<FrameId> frames;
  for (const FrameId id : tables.stack(stack)) {
    const StackFrame& frame = tables.frame(id);
    frames.push_back(
        common_.intern(StackFrame{common_.intern(base_name(tables.text(frame.filename))),
                                  common_.intern(tables.text(frame.name)), frame.line}));
  }
  return common_.intern(frames);
}

VariedRecording read_varied_recording(const std::string& file, std::int64_t value,
                                      const RuleSet& rules, CommonStacks& stacks) {
  VariedRecording recording;
  recording.file = file;
  recording.value = value;
  recording.snapshot = snapshot_in(file);
  try {
    for (DeviceHistory& history : device_histories(recording.snapshot, rules)) {
      recording.gpus.push_back(
          recorded_gpu(std::move(history), recording.snapshot, file, rules, stacks));
    }
  } catch (const HistoryError& error) {
    throw RecordingError(fmt::format("{}: {}", file, error.what()));
  }
  return recording;
}

}  // namespace ohm::engine
