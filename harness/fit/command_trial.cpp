#include "harness/fit/command_trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <sstream>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "allocator_shim/observe/event_record.h"
#include "allocator_shim/snapshot/snapshot_reader.h"
#include "harness/exec/child_command.h"
#include "harness/exec/command_result.h"
#include "harness/exec/failure_cause.h"
#include "harness/exec/gpu_command.h"
#include "harness/exec/process_record.h"
#include "harness/exec/record_folder.h"
#include "reports/text/result_text.h"

namespace ohm::engine {

namespace {

std::string cause_in(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return failure_cause(text.str());
}

/// Of its standard error; where that says nothing, of its standard output.
std::string cause_of_failure(const ChildCommand& command) {
  const std::string cause = cause_in(command.errors);
  return cause.empty() ? cause_in(command.output) : cause;
}

/// Blocks that go together go in an order that may differ from run to run, as at the end of
/// autocast, and what is free afterwards is the same.
void order_frees(RequestList& list) {
  const auto is_free = [](const RequestList::Request& request) { return request.is_free; };
  auto end = list.requests.begin();
  while (end != list.requests.end()) {
    const auto begin = std::find_if(end, list.requests.end(), is_free);
    end = std::find_if_not(begin, list.requests.end(), is_free);
    std::sort(begin, end, [](const RequestList::Request& a, const RequestList::Request& b) {
      return std::tie(a.device, a.block) < std::tie(b.device, b.block);
    });
  }
}

/// What the processes asked all of their GPUs for: each process has GPUs of its own, so they count
/// on. Nullopt where some did not write it down, or not all of it.
std::optional<RequestList> recorded_request_list(const std::vector<ProcessRecord>& records) {
  EventRecord events;
  int first_device = 0;
  for (const ProcessRecord& record : records) {
    if (record.snapshot.empty()) return std::nullopt;
    const Snapshot snapshot = read_snapshot_file(record.snapshot);
    std::unordered_map<std::int64_t, std::uint32_t> streams = {{0, kDefaultStream}};
    for (const std::vector<TraceEntry>& trace : snapshot.device_traces) {
      if (static_cast<std::int64_t>(trace.size()) >= record.most_events) return std::nullopt;
      if (trace.empty()) continue;
      if (first_device > std::numeric_limits<std::int8_t>::max()) return std::nullopt;
      for (const TraceEntry& entry : trace) {
        const auto next = static_cast<std::uint32_t>(streams.size());
        MemoryEvent event;
        event.action = entry.action;
        event.address = entry.address;
        event.bytes = entry.bytes;
        event.device = static_cast<std::int8_t>(first_device);
        event.stream = streams.try_emplace(snapshot.stream(entry), next).first->second;
        events.add(event);
      }
      ++first_device;
    }
  }
  RequestList list = engine::request_list(events);
  order_frees(list);
  return list;
}

std::string oom_reason(const RunResult& result) {
  for (const ScenarioResult& scenario : result.scenarios) {
    for (const VariantResult& variant : scenario.variants) {
      if (variant.oom) return reports::oom_sentence(*variant.oom);
    }
  }
  return "an out-of-memory error that the command catches";
}

/// Over every GPU of every process.
struct Totals {
  FitPoint largest;
  std::int64_t workspace_bytes = 0;
  std::int64_t num_ooms = 0;
  std::int64_t num_alloc_retries = 0;
};

Totals totals_of(const RunResult& result) {
  constexpr auto kWorkspace = static_cast<std::size_t>(Category::workspace);
  Totals totals;
  for (const ScenarioResult& scenario : result.scenarios) {
    for (const VariantResult& variant : scenario.variants) {
      for (const DeviceResult& device : variant.devices) {
        FitPoint& largest = totals.largest;
        largest.peak_allocated_bytes =
            std::max(largest.peak_allocated_bytes, device.peak_allocated_bytes);
        largest.peak_reserved_bytes =
            std::max(largest.peak_reserved_bytes, device.peak_reserved_bytes);
        totals.workspace_bytes =
            std::max(totals.workspace_bytes, device.peak_by_category[kWorkspace]);
        totals.num_ooms += device.num_ooms;
        totals.num_alloc_retries += device.num_alloc_retries;
      }
    }
  }
  return totals;
}

TrialBasis basis_of(const RunResult& result) {
  TrialBasis basis;
  for (const ScenarioResult& scenario : result.scenarios) {
    for (const VariantResult& variant : scenario.variants) {
      basis.add({{}, variant.unknown_values});
      for (const DeviceResult& device : variant.devices) basis.add({device.modelled, {}});
    }
  }
  return basis;
}

std::optional<FitStop> stop_of(const RunResult& result, const Totals& totals, const CommandEnd& end,
                               const ChildCommand& command, const CommandQuestion& question) {
  const std::int64_t value = question.value;
  if (end.is_overdue) {
    return FitStop{value,
                   FitStopKind::error,
                   fmt::format("ran longer than {} s", question.timeout_seconds),
                   {}};
  }
  if (totals.num_ooms > 0) {
    return FitStop{value, FitStopKind::out_of_memory, oom_reason(result), {}};
  }
  if (end.status != 0) {
    return FitStop{
        value, FitStopKind::error, exit_status_text(end.status, cause_of_failure(command)), {}};
  }
  if (result.scenarios.empty()) {
    return FitStop{value,
                   FitStopKind::error,
                   "no process of the command used CUDA from PyTorch in Python",
                   {}};
  }
  for (const ScenarioResult& scenario : result.scenarios) {
    if (scenario.error) return FitStop{value, FitStopKind::error, scenario.error->message, {}};
  }
  return std::nullopt;
}

}  // namespace

void TrialBasis::add(const TrialBasis& more) {
  for (const std::string& name : more.modelled) {
    if (std::find(modelled.begin(), modelled.end(), name) == modelled.end()) {
      modelled.push_back(name);
    }
  }
  for (const UnknownValueResult& read : more.unknown_values) {
    const bool is_known = std::any_of(unknown_values.begin(), unknown_values.end(),
                                      [&](const UnknownValueResult& known) {
                                        return std::tie(known.kind, known.file, known.line) ==
                                               std::tie(read.kind, read.file, read.line);
                                      });
    if (!is_known) unknown_values.push_back(read);
  }
}

CommandTrial try_command(const CommandRunner& runner, const CommandQuestion& question) {
  const RecordFolder folder;
  ChildCommand command = gpu_command(question.words, question.gpus);
  command.environment.insert(command.environment.end(), question.environment.begin(),
                             question.environment.end());
  add_values(command, question.values);
  add_recorder(command, folder.path());
  command.output = folder.path() + "/output";
  command.errors = folder.path() + "/errors";
  command.timeout_seconds = question.timeout_seconds;
  const CommandEnd end = runner.run(command);
  if (end.asked_to_end != 0) throw CommandInterrupted(end.asked_to_end);
  const std::vector<ProcessRecord> records = read_process_records(folder.path());
  const RecordedGate no_gate({}, RecordedCounters::present, {});
  const RunResult result =
      command_result(records, {question.gpus, "", question.values.are_computed()}, end, no_gate);
  const Totals totals = totals_of(result);
  CommandTrial trial;
  trial.probe.stop = stop_of(result, totals, end, command, question);
  trial.was_scarce = totals.num_alloc_retries > 0;
  trial.workspace_bytes = totals.workspace_bytes;
  trial.basis = basis_of(result);
  if (!records.empty()) {
    trial.program = process_names(records).front();
    trial.torch_version = records.front().torch_version;
  }
  if (trial.probe.stop) return trial;
  trial.probe.point = totals.largest;
  trial.probe.point->value = question.value;
  trial.requests = recorded_request_list(records);
  return trial;
}

}  // namespace ohm::engine
