#include "harness/sweep/command/faulted_run.h"

#include <fmt/format.h>
#include <sys/types.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "allocator_shim/interpose/fault_trace.h"
#include "allocator_shim/interpose/gpu_variable.h"
#include "harness/exec/failure_cause.h"
#include "harness/exec/gpu_command.h"
#include "harness/exec/python_protocol.h"
#include "harness/process/file_bytes.h"
#include "reports/text/json_text.h"

namespace ohm::engine {

namespace {

using nlohmann::json;

constexpr const char* kTraceFile = "fault";

json job_of(const std::string& check, const PlannedFault& fault) {
  json job = {{"check", check}, {"places", fault.lists_calls || !fault.plan.empty()}};
  if (fault.lost) {
    job["lose"] = {
        {"kind", fault.lost->kind}, {"rank", fault.lost->rank}, {"step", fault.lost->step}};
  }
  return python::message_of(std::move(job));
}

/// Processes of the command outlive it where it was killed, and where they have left it.
void end_processes_of(const std::string& folder) {
  namespace fs = std::filesystem;
  const std::string variable = std::string(python::kWatchVariable) + "=" + folder;
  std::error_code error;
  for (fs::directory_iterator entry("/proc", error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    const std::string name = entry->path().filename();
    pid_t process = 0;
    const auto [end, failed] = std::from_chars(name.data(), name.data() + name.size(), process);
    if (failed != std::errc() || end != name.data() + name.size()) continue;
    std::string environment = read_file_bytes(entry->path() / "environ");
    environment.insert(0, 1, '\0');
    environment.push_back('\0');
    if (environment.find('\0' + variable + '\0') != std::string::npos) kill(process, SIGKILL);
  }
}

// ---- ends of processes --------------------------------------------------------------------------

/// In the order in which they ended.
std::vector<json> ends_in(const std::string& folder) {
  std::vector<json> ends;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with("ended-") || !name.ends_with(".json")) continue;
    json end = reports::json_or_discarded(read_file_bytes(entry.path()));
    if (!end.is_object()) continue;
    python::check_message("ended", end);
    ends.push_back(std::move(end));
  }
  std::sort(ends.begin(), ends.end(), [](const json& a, const json& b) {
    return a.at("time").get<double>() < b.at("time").get<double>();
  });
  return ends;
}

std::string named(const json& end, const std::string& name) {
  const int rank = end.at("rank");
  return rank < 0 ? name : fmt::format("rank {}: {}", rank, name);
}

/// Of each name, the value that the last process of the rank had at its end.
void take_values(const std::vector<json>& ends, CommandOutcome& outcome) {
  std::map<std::string, std::optional<std::string>> values;
  for (const json& end : ends) {
    if (end.contains("check_error")) outcome.check_error = end.at("check_error");
    for (const json& value : end.value("values", json::array())) {
      values[named(end, value.at(0))] = value.at(1).get<std::string>();
    }
    for (const json& name : end.value("not_computed", json::array())) {
      values[named(end, name)].reset();
    }
  }
  std::string lines;
  for (const auto& [name, value] : values) {
    if (!value) {
      outcome.not_computed.push_back(name);
    } else {
      lines += fmt::format("{}{} = {}", lines.empty() ? "" : "\n", name, *value);
    }
  }
  if (!lines.empty()) outcome.checked = lines;
}

void take_error(const std::vector<json>& ends, int process, CommandOutcome& outcome) {
  for (const json& end : ends) {
    const json error = end.value("error", json());
    if (!error.is_object()) continue;
    const bool is_of_fault = end.at("pid").get<int>() == process;
    if (outcome.error && !is_of_fault) continue;
    ErrorResult& result = outcome.error.emplace();
    result.message = fmt::format("{}: {}", error.at("type").get<std::string>(),
                                 error.at("message").get<std::string>());
    result.file = error.at("file");
    result.line = error.at("line");
    outcome.is_foreign = end.at("own_mistake");
  }
}

void take_trace(const std::string& path, FaultedEnd& fault) {
  using Numbers = std::array<std::int32_t, sizeof(interpose::FaultTrace) / sizeof(std::int32_t)>;
  Numbers numbers = {};
  const std::string bytes = read_file_bytes(path);
  if (bytes.size() < sizeof(numbers)) return;
  std::memcpy(numbers.data(), bytes.data(), sizeof(numbers));
  const auto& [process, is_sticky, shown, again, later_work, successors] = numbers;
  fault.process = process;
  fault.is_sticky = is_sticky != 0;
  fault.shown = shown;
  fault.again = again;
  fault.later_work = later_work;
  fault.successors = successors;
}

/// A line of a file of steps (ohm_watched.py).
struct CompleteStep {
  std::string kind;
  int rank = 0;
  int restart = 0;
  int failed_calls = 0;
};

std::vector<CompleteStep> steps_in(const std::string& folder) {
  std::vector<CompleteStep> steps;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (!entry.path().filename().string().starts_with("steps-")) continue;
    std::ifstream lines(entry.path());
    CompleteStep step;
    while (lines >> step.kind >> step.rank >> step.restart >> step.failed_calls) {
      steps.push_back(step);
    }
  }
  return steps;
}

/// Of one kind: of each restart, the most steps that a rank completed. A process in the place of
/// another that ended goes on with its steps.
void take_steps(const std::string& folder, FaultedEnd& fault) {
  const std::vector<CompleteStep> steps = steps_in(folder);
  std::set<int> failed_calls;
  for (const CompleteStep& step : steps) {
    fault.ranks = std::max(fault.ranks, step.rank + 1);
    if (step.kind != "step") continue;
    ++fault.optimizer_steps;
    if (step.failed_calls > 0) failed_calls.insert(step.failed_calls);
  }
  fault.continues_without_failures = failed_calls.size() == 1;
  fault.step_kind = fault.optimizer_steps > 0 ? "step" : "collective";
  std::map<std::pair<int, int>, int> of_rank;
  for (const CompleteStep& step : steps) {
    if (step.kind == fault.step_kind) ++of_rank[{step.restart, step.rank}];
  }
  std::map<int, int> of_restart;
  for (const auto& [key, count] : of_rank) {
    of_restart[key.first] = std::max(of_restart[key.first], count);
  }
  for (const auto& [restart, most] : of_restart) fault.steps.push_back(most);
}

}  // namespace

// ---- the run ------------------------------------------------------------------------------------

FaultedFolder::FaultedFolder() : changes_(scratch_.path(), "") {}

void add_fault(ChildCommand& command, const std::string& folder, const PlannedFault& fault,
               const std::string& check) {
  std::ofstream(folder + "/job.json") << reports::json_line(job_of(check, fault));
  const std::string trace = folder + "/" + kTraceFile;
  std::ofstream(trace) << std::string(sizeof(interpose::FaultTrace), '\0');
  auto& variables = command.environment;
  variables.emplace_back(python::kWatchVariable, folder);
  variables.emplace_back(python::kOneThreadVariable, "1");
  variables.emplace_back(interpose::kFaultTraceVariable, trace);
  if (!fault.plan.empty()) variables.emplace_back(interpose::kFaultVariable, fault.plan);
  if (fault.lists_calls) variables.emplace_back(interpose::kCallTraceVariable, folder);
  // A process that is killed has printed what it did.
  variables.emplace_back("PYTHONUNBUFFERED", "1");
}

FaultedRun::FaultedRun(const FaultedCommand& command, const FaultedFolder& folder,
                       const PlannedFault& fault)
    : child_(gpu_command(folder.scratch().moved(command.words), command.gpus)) {
  add_values(child_, command.values);
  add_fault(child_, folder_.path(), fault, command.check);
  child_.output = folder_.path() + "/output";
  child_.errors = folder_.path() + "/errors";
  child_.folder = folder.scratch().path();
}

FaultedRun::~FaultedRun() { end_processes_of(folder_.path()); }

ChildCommand FaultedRun::command(double timeout_seconds) const {
  ChildCommand command = child_;
  command.timeout_seconds = timeout_seconds;
  return command;
}

std::string FaultedRun::text(const std::string& name) const {
  return read_file_bytes(folder_.path() + "/" + name);
}

CommandOutcome FaultedRun::outcome(const CommandEnd& end) const {
  end_processes_of(folder_.path());
  CommandOutcome outcome;
  outcome.status = end.status;
  outcome.signal = end.signal;
  outcome.is_overdue = end.is_overdue;
  outcome.printed = text("output");
  FaultedEnd& fault = outcome.fault.emplace();
  fault.errors = text("errors");
  fault.cause = failure_cause(fault.errors);
  if (fault.cause.empty()) fault.cause = failure_cause(*outcome.printed);
  take_trace(folder_.path() + "/" + kTraceFile, fault);
  take_steps(folder_.path(), fault);
  const std::vector<json> ends = ends_in(folder_.path());
  take_values(ends, outcome);
  take_error(ends, fault.process, outcome);
  for (const json& one : ends) {
    const bool has_failed = one.value("error", json()).is_object();
    if (has_failed && one.at("restarts") > 0) ++fault.failed_restarts;
  }
  fault.is_lost = std::filesystem::exists(folder_.path() + "/lost");
  return outcome;
}

double seconds_for_faulted(double fault_free_seconds) {
  constexpr double kLeastSeconds = 15;
  constexpr double kTimesFaultFree = 4;
  return kLeastSeconds + kTimesFaultFree * fault_free_seconds;
}

}  // namespace ohm::engine
