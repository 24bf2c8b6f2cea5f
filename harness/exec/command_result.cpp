#include "harness/exec/command_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>

#include "allocator_shim/snapshot/snapshot_reader.h"
#include "harness/exec/unwritten_records.h"
#include "harness/scenario/source_lines.h"
#include "reports/conclusion/result_conclusion.h"
#include "reports/history/snapshot_result.h"
#include "reports/text/result_text.h"
#include "reports/text/unknown_values_text.h"

namespace ohm::engine {

namespace {

/// As cudaGetErrorString has it.
constexpr const char* kCudaMessage = "out of memory";

/// "cuda:3" is 3.
std::size_t index_of(const DeviceResult& device) {
  return static_cast<std::size_t>(std::stoi(device.device.substr(device.device.find(':') + 1)));
}

/// Counters of the devices that the process used; the snapshot's own are of what it still knows.
void take_counters(const ProcessRecord& record, const CommandMachine& machine,
                   VariantResult& variant) {
  for (DeviceResult& device : variant.devices) {
    const std::size_t index = index_of(device);
    device.profile = machine.profile;
    device.values = machine.has_values;
    device.rules = record.is_native ? "CUDA" : "PyTorch " + record.torch_version;
    if (index >= record.devices.size()) continue;
    const RecordedDevice& recorded = record.devices[index];
    device.capacity_bytes = recorded.capacity_bytes;
    device.peak_allocated_bytes = recorded.peak_allocated_bytes;
    device.peak_reserved_bytes = recorded.peak_reserved_bytes;
    device.allocated_at_end_bytes = recorded.allocated_at_end_bytes;
    device.num_ooms = recorded.num_ooms;
    device.num_alloc_retries = recorded.num_alloc_retries;
    device.num_device_alloc = recorded.num_device_alloc;
    device.modelled = recorded.modelled;
  }
}

/// Whether the history shows as much as the counters counted: it keeps the last events alone, and
/// the program may have one of its own.
bool reaches_the_peak(const VariantResult& shown, const ProcessRecord& record) {
  return std::all_of(shown.devices.begin(), shown.devices.end(), [&](const DeviceResult& device) {
    const std::size_t index = index_of(device);
    return index >= record.devices.size() ||
           record.devices[index].peak_allocated_bytes <= device.peak_allocated_bytes;
  });
}

/// What is shown is of another moment than the peak.
void drop_breakdown(reports::RecordedRun& recorded) {
  VariantResult& variant = recorded.result.scenarios.front().variants.front();
  recorded.has_breakdown = false;
  variant.reason = "the history does not reach back to the peak (OHM_RECORD_EVENTS)";
  variant.findings.clear();
  for (DeviceResult& device : variant.devices) {
    device.peak.reset();
    device.peak_by_category = {};
  }
}

/// Some programs catch the error, and end with a status of their own.
void take_failure(const CommandEnd& end, VariantResult& variant) {
  if (end.status == 0 || !variant.oom || variant.outcome != Outcome::completed) return;
  variant.outcome = Outcome::oom;
  variant.verdict = Verdict::failed;
  variant.failure_type = FailureType::limit_exceeded;
}

void take_end(const ProcessRecord& record, VariantResult& variant) {
  if (!record.error) return;
  variant.error = record.error;
  variant.outcome = record.is_out_of_memory ? Outcome::oom : Outcome::error;
  variant.verdict = record.is_out_of_memory ? Verdict::failed : Verdict::error;
  variant.reason = record.error->message;
  if (!record.is_out_of_memory) return;
  variant.failure_type = FailureType::limit_exceeded;
  if (!variant.oom) return;  // of the host, say
  const std::string& message = record.error->message;
  variant.oom->message = message.substr(message.find(": ") + 2);
  // Threads of autograd have no line of the program: its own is where it waited for them.
  if (variant.oom->file.empty()) {
    variant.oom->file = record.error->file;
    variant.oom->line = record.error->line;
  }
}

/// After the paths of `variant` were shortened.
void say_out_of_memory(VariantResult& variant) {
  if (variant.outcome == Outcome::oom && variant.oom) {
    variant.reason = reports::oom_sentence(*variant.oom);
  }
}

/// Likewise.
void say_unknown_values(VariantResult& variant) {
  if (variant.unknown_values.empty()) return;
  variant.findings.push_back(reports::unknown_values_finding(variant));
}

/// Files in the repository that the process started in are named from the folder that it started
/// in, as on a command line.
class ShortenedPaths {
 public:
  explicit ShortenedPaths(const ProcessRecord& record)
      : folder_(record.folder), repository_(repository_of(record)) {}

  void shorten(reports::RecordedRun& recorded) const {
    for (auto* devices : {&recorded.grown, &recorded.left}) {
      for (auto& lines : *devices) shorten(lines);
    }
    ScenarioResult& scenario = recorded.result.scenarios.front();
    for (VariantResult& variant : scenario.variants) shorten(variant);
    if (!folder_.empty() && folder_ != repository_) {
      scenario.folder = std::filesystem::path(folder_).lexically_relative(repository_);
    }
  }

  void shorten(std::string& path) const {
    if (repository_.size() <= 1 || !is_within(repository_, path)) return;
    path = std::filesystem::path(path).lexically_relative(folder_);
  }

 private:
  /// The first of the user's folders that the process started in.
  static std::string repository_of(const ProcessRecord& record) {
    for (const std::string& folder : record.user_folders) {
      if (is_within(folder, record.folder)) return folder;
    }
    return record.folder;
  }
  static bool is_within(const std::string& folder, std::string_view path) {
    return path == folder || path.starts_with(folder + "/");
  }
  template <class Row>
  void shorten(std::vector<Row>& rows) const {
    for (Row& row : rows) shorten(row.file);
  }
  void shorten(RetentionResult& retention) const {
    for (RetainedResult& entry : retention.entries) shorten(entry.file);
    if (retention.call) shorten(retention.call->file);
  }
  void shorten(VariantResult& variant) const {
    for (DeviceResult& device : variant.devices) {
      if (device.peak) shorten(device.peak->holders);
    }
    if (variant.history) {
      for (HistorySite& site : variant.history->sites) shorten(site.file);
      for (HistoryLine& line : variant.history->lines) shorten(line.file);
    }
    for (FindingResult& finding : variant.findings) {
      for (FindingEvidence& evidence : finding.evidence) shorten(evidence.file);
    }
    for (UnknownValueResult& read : variant.unknown_values) shorten(read.file);
    if (variant.retention) shorten(*variant.retention);
    if (variant.error) shorten(variant.error->file);
    if (!variant.oom) return;
    shorten(variant.oom->file);
    shorten(variant.oom->holders);
  }

  std::string folder_;
  std::string repository_;
};

/// Those that the gate names, where they were not known before.
void take_source(std::optional<CauseResult>& cause) {
  if (!cause) return;
  SourceLines lines("", {});
  for (CauseLine& line : cause->lines) {
    if (line.text.empty()) line.text = lines.text(line.file, line.line);
  }
}

/// The lines that the result names, and those of the script where there is a history.
void take_source(ScenarioResult& scenario) {
  SourceLines lines("", {});
  scenario.source = lines.of(scenario.file);
  for (VariantResult& variant : scenario.variants) {
    if (variant.conclusion) {
      ConclusionResult& conclusion = *variant.conclusion;
      conclusion.text = lines.text(conclusion.file, conclusion.line);
    }
    if (variant.oom) lines.fill_in(variant.oom->holders);
    for (DeviceResult& device : variant.devices) {
      if (device.peak) lines.fill_in(device.peak->holders);
    }
  }
}

/// As files of the repository are named.
std::string script_of(const ProcessRecord& record) {
  std::string script = record.arguments.empty() ? "" : record.arguments.front();
  ShortenedPaths(record).shorten(script);
  return script;
}

std::string reason_of_loss(const ProcessRecord& record) {
  if (record.is_unwritten) return record.problems.back();
  if (!record.problems.empty()) {
    return fmt::format("process {} could not be recorded: {}", record.pid, record.problems.front());
  }
  return reason_of_no_record(record.pid);
}

reports::RecordedRun lost_process(const ProcessRecord& record) {
  reports::RecordedRun recorded;
  recorded.result.exit_reason = ExitReason::script_error;
  ScenarioResult& scenario = recorded.result.scenarios.emplace_back();
  scenario.verdict = Verdict::failed;
  scenario.error.emplace().message = reason_of_loss(record);
  return recorded;
}

/// Of a program without PyTorch, whose error has no text of its own.
void take_findings(const ProcessRecord& record, VariantResult& variant) {
  variant.findings = record.findings;
  if (!variant.oom) return;
  variant.oom->message = kCudaMessage;
  variant.oom->reserved_bytes = 0;  // it has no allocator with a cache
}

/// What was recorded, under the counters' figures and with how the process ended.
reports::RecordedRun recorded_process(const ProcessRecord& record, const CommandMachine& machine,
                                      const CommandEnd& end) {
  reports::RecordedRun recorded =
      reports::recorded_run(read_snapshot_file(record.snapshot), record.snapshot);
  ScenarioResult& scenario = recorded.result.scenarios.front();
  VariantResult& variant = scenario.variants.front();
  variant.rerun = machine.rerun;
  if (!reaches_the_peak(variant, record)) drop_breakdown(recorded);
  take_counters(record, machine, variant);
  take_end(record, variant);
  take_failure(end, variant);
  variant.unknown_values = record.unknown_values;
  variant.retention = record.retention;
  if (variant.oom) reports::take_card_figures(*variant.oom);
  if (record.is_native) take_findings(record, variant);
  ShortenedPaths(record).shorten(recorded);
  if (!record.is_native) {
    reports::reject_contradicted(variant);
    variant.conclusion = reports::conclusion_of(variant);
  }
  say_out_of_memory(variant);
  say_unknown_values(variant);
  return recorded;
}

std::string summary_of(const ProcessRecord& record) {
  if (record.is_native) return "CUDA without PyTorch";
  return record.torch_version.empty() ? "" : fmt::format("PyTorch {}", record.torch_version);
}

}  // namespace

RunResult command_result(const std::vector<ProcessRecord>& records, const CommandMachine& machine,
                         const CommandEnd& end, const RecordedGate& gate) {
  RunResult result;
  const std::vector<std::string> names = process_names(records);
  for (std::size_t i = 0; i < records.size(); ++i) {
    const ProcessRecord& record = records[i];
    const bool is_lost = record.snapshot.empty();
    reports::RecordedRun recorded =
        is_lost ? lost_process(record) : recorded_process(record, machine, end);
    ScenarioResult& scenario = recorded.result.scenarios.front();
    scenario.name = names[i];
    scenario.summary = summary_of(record);
    scenario.file = script_of(record);
    if (!is_lost) {
      take_source(scenario);
      gate.judge(recorded, records.size() == 1);
      take_source(scenario.variants.front().cause);
    }
    result.exit_reason = worse_of(result.exit_reason, recorded.result.exit_reason);
    result.scenarios.push_back(std::move(scenario));
  }
  return result;
}

}  // namespace ohm::engine
