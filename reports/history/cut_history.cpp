#include "reports/history/cut_history.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "reports/text/measured_text.h"

namespace ohm::reports {

namespace {

struct Recorder {
  std::string_view annotation;  ///< of a device whose oldest events it has dropped
  const char* setting;          ///< how many events it keeps
};

/// As harness/record/ohm_process.py writes them.
constexpr std::array<Recorder, 2> kRecorders = {{
    {kDroppedByExec, "OHM_RECORD_EVENTS"},
    {"ohm record dropped events", "ohm record --max-entries"},
}};

/// That dropped events; nullptr: none were dropped.
const Recorder* recorder_of(const Snapshot& snapshot) {
  for (const SnapshotAnnotation& annotation : snapshot.external_annotations) {
    const std::string_view name = snapshot.tables.text(annotation.name);
    for (const Recorder& recorder : kRecorders) {
      if (name == recorder.annotation) return &recorder;
    }
  }
  return nullptr;
}

}  // namespace

bool is_cut(const Snapshot& snapshot) { return recorder_of(snapshot) != nullptr; }

std::string events_text(const Snapshot& snapshot, std::int64_t events) {
  return fmt::format("{}{} events", is_cut(snapshot) ? "the last " : "", grouped(events));
}

std::string earlier_events_text(const Snapshot& snapshot) {
  const Recorder* const recorder = recorder_of(snapshot);
  if (recorder == nullptr) return "";
  return fmt::format("; earlier ones were not kept, {} keeps more", recorder->setting);
}

}  // namespace ohm::reports
