#include "harness/exec/host_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "allocator_shim/base/format_bytes.h"
#include "harness/exec/function_names.h"
#include "harness/exec/process_record.h"
#include "harness/exec/unwritten_records.h"
#include "reports/text/result_text.h"

namespace ohm::engine {

namespace {

using Holders = std::vector<HolderResult>;

/// Stacks that are shown alike are one holder. The largest first.
Holders holders_of(const HostRecord& record, std::int64_t HostSite::*bytes,
                   std::int64_t HostSite::*blocks, ProgramFunctions& functions) {
  std::map<std::pair<std::string, std::string>, HolderResult> by_place;
  for (const HostSite& site : record.sites) {
    if (site.*bytes <= 0) continue;
    const HostPlace place = place_of(site.frames, functions);
    HolderResult& holder = by_place[{place.function, place.module}];
    holder.op = place.function;
    holder.file = place.module;
    holder.bytes += site.*bytes;
    holder.count += site.*blocks;
  }
  Holders holders;
  for (auto& [place, holder] : by_place) holders.push_back(std::move(holder));
  std::stable_sort(holders.begin(), holders.end(),
                   [](const HolderResult& a, const HolderResult& b) { return a.bytes > b.bytes; });
  return holders;
}

std::string failure_message(const HostFailure& failure, const HostMachine& machine) {
  const std::string live = human_bytes(static_cast<std::uint64_t>(failure.live_bytes));
  if (failure.is_limit) {
    return fmt::format("request {} would have exceeded the limit of {}: {} were alive",
                       failure.request, machine.limit, live);
  }
  return fmt::format("request {} was made to fail: {} were alive", failure.request, live);
}

OomResult oom_of(const HostRecord& record, const HostMachine& machine,
                 ProgramFunctions& functions) {
  const HostFailure& failure = *record.failure;
  const HostPlace place = place_of(failure.frames, functions);
  OomResult oom;
  oom.step = 0;
  oom.device = kHostDevice;
  oom.requested_bytes = failure.bytes;
  oom.segment_bytes = failure.bytes;
  oom.op = place.function;
  oom.file = place.module;
  oom.message = failure_message(failure, machine);
  oom.injected = !failure.is_limit;
  if (oom.injected) oom.policy = machine.fault;
  oom.holders = holders_of(record, &HostSite::failure_bytes, &HostSite::failure_blocks, functions);
  oom.alive_by_category[static_cast<std::size_t>(Category::other)] =
      std::accumulate(oom.holders.begin(), oom.holders.end(), std::int64_t{0},
                      [](std::int64_t sum, const HolderResult& h) { return sum + h.bytes; });
  if (oom.holders.size() > kMaxHolders) {
    oom.other_holders = static_cast<std::int64_t>(oom.holders.size() - kMaxHolders);
    oom.holders.resize(kMaxHolders);
  }
  return oom;
}

VariantResult variant_of(const HostRecord& record, const HostMachine& machine,
                         const CommandEnd& end) {
  ProgramFunctions functions;
  VariantResult variant;
  variant.name = reports::kRecordedVariant;
  variant.role = Role::control;
  variant.rerun = machine.rerun;
  variant.outcome = Outcome::completed;
  variant.verdict = Verdict::passed;
  HostResult& host = variant.host.emplace();
  host.peak_allocated_bytes = record.peak_bytes;
  host.allocated_at_end_bytes = record.live_bytes;
  host.num_ooms = record.failed;
  host.peak.emplace().holders =
      holders_of(record, &HostSite::peak_bytes, &HostSite::peak_blocks, functions);
  if (!record.failure) return variant;
  variant.oom = oom_of(record, machine, functions);
  if (end.status == 0) return variant;
  variant.outcome = Outcome::oom;
  variant.verdict = Verdict::failed;
  variant.failure_type = FailureType::limit_exceeded;
  variant.reason = reports::oom_sentence(*variant.oom);
  return variant;
}

/// "python3", "cc1 (process 2)".
std::vector<std::string> host_process_names(const std::vector<HostRecord>& records) {
  std::vector<std::string> names;
  for (const HostRecord& record : records) {
    const std::string word = record.arguments.empty() ? record.program : record.arguments.front();
    names.push_back(std::filesystem::path(word).filename());
    if (names.back().empty()) names.back() = "process";
  }
  tell_apart(names);
  return names;
}

/// A process that failed a request has told what matters; others are lost with their end.
bool is_lost(const HostRecord& record) { return !record.has_ended && !record.failure; }

std::string reason_of_loss(const HostRecord& record) {
  if (!record.unwritten.empty()) {
    return fmt::format("the record of process {} cannot be written: {}", record.pid,
                       record.unwritten);
  }
  return reason_of_no_record(record.pid);
}

reports::RecordedRun recorded_process(const HostRecord& record, const HostMachine& machine,
                                      const CommandEnd& end) {
  reports::RecordedRun recorded;
  ScenarioResult& scenario = recorded.result.scenarios.emplace_back();
  scenario.summary = "host memory";
  scenario.file = record.program;
  if (is_lost(record)) {
    recorded.result.exit_reason = ExitReason::script_error;
    scenario.verdict = Verdict::failed;
    scenario.error.emplace().message = reason_of_loss(record);
    return recorded;
  }
  scenario.variants.push_back(variant_of(record, machine, end));
  scenario.verdict = scenario.variants.front().verdict;
  return recorded;
}

}  // namespace

RunResult host_result(const std::vector<HostRecord>& records, const HostMachine& machine,
                      const CommandEnd& end, const RecordedGate& gate) {
  RunResult result;
  const std::vector<std::string> names = host_process_names(records);
  for (std::size_t i = 0; i < records.size(); ++i) {
    reports::RecordedRun recorded = recorded_process(records[i], machine, end);
    ScenarioResult& scenario = recorded.result.scenarios.front();
    scenario.name = names[i];
    if (!is_lost(records[i])) gate.judge(recorded, records.size() == 1);
    result.exit_reason = worse_of(result.exit_reason, recorded.result.exit_reason);
    result.scenarios.push_back(std::move(scenario));
  }
  return result;
}

}  // namespace ohm::engine
