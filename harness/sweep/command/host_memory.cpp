#include "harness/sweep/command/host_memory.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <system_error>

#include "allocator_shim/fault/fault_point.h"
#include "harness/exec/failure_cause.h"
#include "harness/exec/function_names.h"
#include "harness/exec/host_command.h"
#include "harness/exec/host_record.h"
#include "harness/process/file_bytes.h"
#include "harness/process/shell_quote.h"
#include "harness/process/stopwatch.h"

namespace ohm::engine {

namespace host = interpose::host;

namespace {

/// Minimum time limit of a faulted run: on a busy machine nothing else tells slow from hung.
constexpr double kLeastSecondsOfAFault = 3;
constexpr double kTimesOfTheProgram = 10;

/// Outputs are compared by a number: what a sweep prints of them is short.
std::string digest_of(const std::string& output) {
  return fmt::format("output {:08x}", static_cast<std::uint32_t>(PointHash().add(output).value()));
}

/// A file can be read from its start by every run; of anything else nothing is left for a second.
std::string repeatable_input() {
  struct stat status = {};
  const bool is_file = fstat(STDIN_FILENO, &status) == 0 && S_ISREG(status.st_mode);
  return is_file ? "/proc/self/fd/0" : "";
}

/// `message` without what both begin with.
std::string beyond(const std::string& message, const std::string& expected) {
  if (message == expected) return {};
  const auto differing =
      std::mismatch(message.begin(), message.end(), expected.begin(), expected.end());
  return {differing.first, message.end()};
}

/// The request was not made, or came from elsewhere.
CommandOutcome outcome_without_failure(const CountedCommand& counted) {
  CommandOutcome outcome;
  outcome.status = counted.outcome.status;
  outcome.checked = counted.outcome.checked;
  return outcome;
}

std::string why_not_copied(host::FaultEnd end) {
  switch (end) {
    case host::FaultEnd::several_threads:
      return "the process has several threads there";
    case host::FaultEnd::writes_files:
      return "the process has a file open for writing there";
    case host::FaultEnd::speaks_to_others:
      return "the process has a pipe or a socket open there";
    case host::FaultEnd::has_children:
      return "the process has children there";
    case host::FaultEnd::no_copy:
      return "the machine has no room for a copy of the process";
    case host::FaultEnd::ended:
      return "the process writes files after the failure";
    default:
      return "the run that was copied ended before it";
  }
}

constexpr const char* kIsDisturbed = "the process behaved differently beside its copies";

bool is_told(host::FaultEnd end) {
  return end == host::FaultEnd::ended || end == host::FaultEnd::hung ||
         end == host::FaultEnd::other_point;
}

double seconds_of_a_fault(const CountedCommand& counted) {
  return std::max(kLeastSecondsOfAFault, kTimesOfTheProgram * counted.seconds);
}

SweepPoint point_of_site(const HostSite& site, ProgramFunctions& functions) {
  SweepPoint point;
  point.point = fault_point_text(site.point, 0);
  point.level = name_of(FaultLevel::request);
  point.device = "host";
  const HostPlace place = place_of(site.frames, functions);
  point.op = place.function;
  point.file = place.module;
  std::transform(site.frames.rbegin(), site.frames.rend(), std::back_inserter(point.stack),
                 [&](const auto& frame) { return function_of(frame, functions); });
  return point;
}

/// Why the trace is none of the whole program; empty where it is.
std::string problem_of(const host::SweepControl& control) {
  if (control.has_ended == 0) {
    return "the end of the command was not observed: it executed another program, or ended by a "
           "direct system call";
  }
  if (control.requests == 0) {
    return "no request for host memory was observed: its allocator is linked into the program";
  }
  if (control.requests > host::kTracedRequests) {
    return fmt::format("it makes {} requests for host memory, and {} can be swept",
                       control.requests, host::kTracedRequests);
  }
  return {};
}

}  // namespace

namespace {

/// That takes part in a sweep by the files of `folder`.
ChildCommand command_in(const HostSweepFolder& folder, const std::vector<std::string>& words) {
  ChildCommand command = host_command(words, {});
  command.environment.emplace_back(host::kSweepVariable, folder.path());
  command.output = folder.file(host::kOutputFile);
  command.errors = folder.file(host::kErrorsFile);
  command.input = repeatable_input();
  command.has_fixed_addresses = true;
  return command;
}

}  // namespace

HostMemory::Run HostMemory::run(host::SweepRun kind, double timeout_seconds,
                                const std::vector<host::SweptFault>& faults) {
  // The copies' own time comes on top of what the process takes.
  const double for_a_copy = kind == host::SweepRun::fork ? timeout_seconds : 0;
  folder_.write_control(kind, static_cast<std::uint32_t>(std::lround(for_a_copy * 1000)), faults);
  ChildCommand command = command_in(folder_, command_.words);
  command.timeout_seconds = timeout_seconds + for_a_copy * static_cast<double>(faults.size());
  Run ran;
  const Stopwatch stopwatch;
  ran.end = runner().run(command);
  ran.seconds = stopwatch.seconds();
  if (ran.end.asked_to_end != 0) throw CommandInterrupted(ran.end.asked_to_end);
  ran.control = folder_.read_control();
  return ran;
}

HostMemory::Run HostMemory::run_without_faults() {
  const std::string list = folder_.file(host::kWrittenFile);
  const std::ofstream empty(list);
  const std::time_t began = last_change(list);
  files_.put_back();
  try {
    Run ran = run(host::SweepRun::trace, command_.timeout_seconds, {});
    files_.take(read_written_files(list), began);
    return ran;
  } catch (const CommandInterrupted&) {
    files_.restore(read_written_files(list));
    throw;
  }
}

CountedCommand HostMemory::count() {
  const Run ran = run_without_faults();
  CountedCommand counted;
  counted.program = std::filesystem::path(command_.words.front()).filename();
  counted.description = "host memory";
  counted.seconds = ran.seconds;
  counted.outcome.status = ran.end.status;
  counted.outcome.signal = ran.end.signal;
  counted.outcome.is_overdue = ran.end.is_overdue;
  const std::string output = read_file_bytes(folder_.file(host::kOutputFile));
  counted.outcome.checked = digest_of(output);
  counted.cause = failure_cause(read_file_bytes(folder_.file(host::kErrorsFile)));
  if (counted.cause.empty()) counted.cause = failure_cause(output);
  using std::filesystem::copy_options;
  for (const auto& [from, to] : {std::pair(host::kOutputFile, host::kExpectedOutput),
                                 std::pair(host::kErrorsFile, host::kExpectedErrors)}) {
    std::filesystem::copy_file(folder_.file(from), folder_.file(to),
                               copy_options::overwrite_existing);
  }
  counted.written_files = files_.names();
  counted.network_host = ran.control.network_host.data();
  counted.problem = problem_of(ran.control);
  if (counted.problem.empty()) {
    take_trace(ran, counted);
  } else if (ran.control.has_ended == 0) {
    counted.hint = "name the program itself, not one that starts it";
  }
  return counted;
}

void HostMemory::take_trace(const Run& ran, CountedCommand& counted) {
  const std::vector<host::TracedRequest> trace = folder_.read_trace(ran.control.requests);
  std::map<std::uint64_t, const HostSite*> sites;
  const HostRecord record = read_host_record(folder_.file(host::kPointsFile));
  for (const HostSite& site : record.sites) sites.emplace(site.point, &site);
  std::map<std::uint64_t, std::uint64_t> passes;
  occurrences_.clear();
  sites_ = {};
  ProgramFunctions functions;
  for (const host::TracedRequest& request : trace) {
    const std::uint64_t number = ++passes[request.point];
    occurrences_.emplace_back(request.point, number);
    counted.calls.points.push_back(request.point);
    counted.calls.kinds.push_back(request.point);
    counted.calls.bytes.push_back(request.bytes);
    counted.calls.can_be_copied.push_back(1);
    const auto site = sites.find(request.point);
    if (number > 1 || site == sites.end()) continue;
    counted.points.push_back(point_of_site(*site->second, functions));
    counted.hashes.push_back(request.point);
    sites_.functions[request.point] = counted.points.back().op;
    if (is_of_interpreter(*site->second)) sites_.are_judged_by_memory = false;
    const std::string python = python_of(*site->second);
    if (!python.empty()) sites_.interpreters[request.point] = python;
  }
  for (std::size_t i = 0; i < counted.points.size(); ++i) {
    counted.points[i].passes = static_cast<std::int64_t>(passes[counted.hashes[i]]);
  }
}

namespace {

std::vector<host::SweptFault> faults_of(const CountedCommand& counted,
                                        const std::vector<FaultTask>& tasks) {
  std::vector<host::SweptFault> faults;
  for (const FaultTask& task : tasks) {
    host::SweptFault& fault = faults.emplace_back();
    fault.request = task.call + 1;
    fault.point = counted.calls.points[task.call];
    fault.is_persistent = task.form == FaultForm::persistent ? 1 : 0;
  }
  return faults;
}

}  // namespace

bool HostMemory::does_otherwise(const Run& ran, const CountedCommand& counted) const {
  return ran.control.first_difference != 0 || ran.end.status != counted.outcome.status ||
         read_file_bytes(folder_.file(host::kOutputFile)) !=
             read_file_bytes(folder_.file(host::kExpectedOutput));
}

CopiedMemory::Left HostMemory::fail_in_copies(const CountedCommand& counted,
                                              const std::vector<FaultTask>& tasks,
                                              const OnEnd& on_end) {
  Left left;
  if (!files_.are_none()) {
    left.tasks.resize(tasks.size());
    std::iota(left.tasks.begin(), left.tasks.end(), 0);
    left.why = "the command writes files";
    return left;
  }
  const std::string written_by_copies = folder_.file(host::kWrittenFile);
  std::filesystem::remove(written_by_copies);
  const Run ran = run(host::SweepRun::fork, seconds_of_a_fault(counted), faults_of(counted, tasks));
  files_.restore(read_written_files(written_by_copies));
  const bool is_disturbed = does_otherwise(ran, counted);
  const std::vector<host::SweptFault> faults = folder_.read_faults(tasks.size());
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const host::FaultEnd end = faults[i].end;
    if (is_disturbed || !is_told(end) || faults[i].writes_files != 0) {
      if (left.why.empty()) left.why = is_disturbed ? kIsDisturbed : why_not_copied(end);
      left.tasks.push_back(i);
    } else if (end == host::FaultEnd::other_point) {
      on_end(i, outcome_without_failure(counted));
    } else {
      on_end(i, outcome_of(counted, end_of(faults[i]), faults[i], sites_));
    }
  }
  return left;
}

namespace {

/// Of the run without faults, which others are compared with.
struct WithoutFaults {
  const CountedCommand& counted;
  const HostSweepFolder& folder;
  const CommandFiles& files;
  const HostSites& sites;
};

class HostRun final : public OwnRun {
 public:
  HostRun(WithoutFaults expected, const std::vector<std::string>& words, host::SweptFault fault)
      : expected_(expected), words_(words) {
    fault.end = host::FaultEnd::not_reached;
    folder_.write_control(host::SweepRun::fail, 0, {fault});
    std::error_code unknown;
    std::filesystem::copy_file(expected.folder.file(host::kLeftFile), folder_.file(host::kLeftFile),
                               unknown);
  }
  /// Of a run that was stopped.
  ~HostRun() override {
    if (is_restored_) return;
    try {
      expected_.files.restore(written_files());
    } catch (const std::runtime_error& error) {
      fmt::print(stderr, "ohm: {}\n", error.what());
    }
  }
  HostRun(const HostRun&) = delete;
  HostRun& operator=(const HostRun&) = delete;

  ChildCommand command() const override {
    expected_.files.put_back();
    ChildCommand command = command_in(folder_, words_);
    command.timeout_seconds = seconds_of_a_fault(expected_.counted);
    return command;
  }

  CommandOutcome outcome(const CommandEnd& ran) const override {
    const CommandOutcome outcome = outcome_before_restoring(ran);
    is_restored_ = true;
    expected_.files.restore(written_files());
    return outcome;
  }

 private:
  std::vector<WrittenFile> written_files() const {
    return read_written_files(folder_.file(host::kWrittenFile));
  }

  CommandOutcome outcome_before_restoring(const CommandEnd& ran) const {
    const CountedCommand& counted = expected_.counted;
    const host::SweptFault fault = folder_.read_faults(1).front();
    if (fault.end != host::FaultEnd::ended) return outcome_without_failure(counted);
    HostEnd end;
    end.status = ran.status;
    end.signal = ran.signal;
    end.is_overdue = ran.is_overdue;
    end.has_same_output = read_file_bytes(folder_.file(host::kOutputFile)) ==
                          read_file_bytes(expected_.folder.file(host::kExpectedOutput));
    end.message = beyond(read_file_bytes(folder_.file(host::kErrorsFile)),
                         read_file_bytes(expected_.folder.file(host::kExpectedErrors)));
    CommandOutcome outcome = outcome_of(counted, end, fault, expected_.sites);
    outcome.files = expected_.files.damage(written_files(), end.status == counted.outcome.status);
    return outcome;
  }

  WithoutFaults expected_;
  const std::vector<std::string>& words_;
  HostSweepFolder folder_;
  mutable bool is_restored_ = false;
};

}  // namespace

std::unique_ptr<OwnRun> HostMemory::own_run(const CountedCommand& counted,
                                            const FaultTask& task) const {
  return std::make_unique<HostRun>(WithoutFaults{counted, folder_, files_, sites_}, command_.words,
                                   faults_of(counted, {task}).front());
}

std::string HostMemory::plan_of(const FaultTask& task) const {
  const auto& [point, occurrence] = occurrences_[task.call];
  const std::string plan = fault_point_text(point, occurrence);
  return task.form == FaultForm::persistent ? fmt::format("persistent({})", plan) : plan;
}

std::string HostMemory::rerun_command(const std::string& plan) const {
  std::string text = "ohm exec --memory host";
  if (!plan.empty()) text += " --fault " + shell_quoted(plan);
  return text + " -- " + shell_command(command_.words);
}

}  // namespace ohm::engine
