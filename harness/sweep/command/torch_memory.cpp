#include "harness/sweep/command/torch_memory.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "allocator_shim/fault/fault_point.h"
#include "harness/exec/failure_cause.h"
#include "harness/exec/gpu_command.h"
#include "harness/exec/python_protocol.h"
#include "harness/exec/record_folder.h"
#include "harness/process/file_bytes.h"
#include "harness/process/shell_quote.h"
#include "harness/sweep/command/scratch_folder.h"
#include "reports/text/json_text.h"

namespace ohm::engine {

namespace {

using nlohmann::json;

/// A program is given so long, at least, once a request has failed.
constexpr double kLeastSeconds = 10;
constexpr double kTimesFaultFree = 10;

/// Null where the program has not written it.
json read_json(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path)) return nullptr;
  return reports::json_or_discarded(read_file_bytes(path));
}

std::uint64_t number_of(const std::string& hash) {
  std::uint64_t number = 0;
  std::from_chars(hash.data(), hash.data() + hash.size(), number, 16);
  return number;
}

std::string name_of_program(const json& process) {
  const std::vector<std::string> words = process.at("arguments");
  const std::filesystem::path script = words.empty() ? "" : words.front();
  const std::string stem = script.stem();
  if (stem == "__main__") return script.parent_path().filename();
  return stem.empty() || stem == "-c" || stem == "-" ? "python" : stem;
}

SweepPoint point_of(const json& row, FaultLevel level) {
  SweepPoint point;
  point.point = fault_point_text(number_of(row.at("hash")), 0);
  point.level = name_of(level);
  point.device = "cuda";
  point.op = row.at("function");
  point.file = row.at("file");
  point.line = row.at("line");
  point.stack = row.at("stack").get<std::vector<std::string>>();
  return point;
}

void take_error(const json& error, CommandOutcome& outcome) {
  if (error.is_null()) return;
  ErrorResult& result = outcome.error.emplace();
  result.message = fmt::format("{}: {}", error.at("type").get<std::string>(),
                               error.at("message").get<std::string>());
  result.file = error.at("file");
  result.line = error.at("line");
  outcome.is_out_of_memory = error.at("out_of_memory");
  outcome.is_foreign = !outcome.is_out_of_memory;
}

/// What the program itself wrote of its end.
void take_outcome(const json& written, CommandOutcome& outcome) {
  if (!written.is_object()) return;
  outcome.is_circling = written.value("circling", false);
  outcome.failures = written.value("failures", std::int64_t{0});
  outcome.calls = written.value("calls", std::int64_t{0});
  outcome.left_bytes = written.value("left_bytes", std::int64_t{-1});
  outcome.peak_bytes = written.value("peak_bytes", std::int64_t{0});
  outcome.more_when_again = written.value("more_when_again", std::int64_t{0});
  outcome.reached_program = written.value("ooms", std::int64_t{1}) > 0;
  if (written.contains("checked")) outcome.checked = written.at("checked").get<std::string>();
  outcome.check_error = written.value("check_error", std::string());
  outcome.not_computed = written.value("not_computed", std::vector<std::string>());
  take_error(written.value("error", json()), outcome);
}

void take_status(int status, CommandOutcome& outcome) {
  outcome.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  outcome.status = WIFSIGNALED(status) ? 128 + outcome.signal : WEXITSTATUS(status);
}

/// One run of the command, with a folder that it and the program share.
class TorchRun {
 public:
  TorchRun(const TorchCommand& command, json job) {
    job["level"] = name_of(command.level);
    job["check"] = command.check;
    job["scratch"] = command.in_scratch;
    job["jobs"] = std::max(1, command.jobs);
    std::ofstream(folder_.path() + "/job.json")
        << reports::json_line(python::message_of(std::move(job)));
    child_ = gpu_command(command.words, command.gpus);
    add_recorder(child_, "");
    add_values(child_, command.values);
    child_.environment.emplace_back(python::kSweepVariable, folder_.path());
    child_.output = folder_.path() + "/output";
    child_.errors = folder_.path() + "/errors";
    // Threads of libraries would keep the process from being copied.
    for (const char* name : {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"}) {
      if (std::getenv(name) == nullptr) child_.environment.emplace_back(name, "1");
    }
    // Seconds for which PyTorch waits, at the end, for threads that a copy does not have.
    child_.environment.emplace_back("TORCH_AUTOGRAD_SHUTDOWN_WAIT_LIMIT", "0");
    if (!command.in_scratch) return;
    scratch_.emplace();
    child_.folder = scratch_->path();
  }

  ChildCommand command(double timeout_seconds) const {
    ChildCommand command = child_;
    command.timeout_seconds = timeout_seconds;
    return command;
  }

  CommandEnd start(const CommandRunner& runner, double timeout_seconds) const {
    const CommandEnd end = runner.run(command(timeout_seconds));
    if (end.asked_to_end != 0) throw CommandInterrupted(end.asked_to_end);
    return end;
  }

  /// NAME.json, or NAME-NUMBER.json: a message of this name. Null where it is not written. Throws
  /// ProtocolError.
  json written(const std::string& name, const std::string& number = {}) const {
    json message = read_json(folder_.path() + "/" + name + number + ".json");
    if (message.is_object()) python::check_message(name, message);
    return message;
  }
  std::string text(const std::string& name) const {
    return read_file_bytes(folder_.path() + "/" + name);
  }
  bool has(const std::string& name) const {
    return std::filesystem::exists(folder_.path() + "/" + name);
  }

 private:
  RecordFolder folder_;
  std::optional<ScratchFolder> scratch_;
  ChildCommand child_;
};

void take_requests(const json& requests, FaultLevel level, CountedCommand& counted) {
  RecordedCalls& calls = counted.calls;
  for (const json& row : requests.at("rows")) {
    counted.points.push_back(point_of(row, level));
    counted.hashes.push_back(number_of(row.at("hash")));
  }
  for (const std::size_t place : requests.at("places")) {
    calls.points.push_back(counted.hashes.at(place));
    ++counted.points.at(place).passes;
  }
  calls.bytes = requests.at("sizes").get<std::vector<std::uint64_t>>();
  calls.kinds.assign(calls.size(), 0);
  calls.can_be_copied.assign(calls.size(), 1);
  counted.seconds = requests.at("seconds");
  take_outcome(requests.at("outcome"), counted.outcome);
  counted.outcome.calls = static_cast<std::int64_t>(calls.size());
}

}  // namespace

// ---- without faults -----------------------------------------------------------------------------

CountedCommand TorchMemory::count() {
  TorchRun run(command_, {{"engine", "count"}, {"faults", json::array()}, {"copy_seconds", 0}});
  const CommandEnd end = run.start(runner(), command_.timeout_seconds);
  CountedCommand counted;
  counted.outcome.printed = run.text("output");
  counted.cause = failure_cause(run.text("errors"));
  if (counted.cause.empty()) counted.cause = failure_cause(*counted.outcome.printed);
  counted.network_host = run.text("network");
  const json process = run.written("process");
  const json requests = run.written("requests");
  if (process.is_object()) {
    counted.program = name_of_program(process);
    counted.description = "PyTorch " + process.at("torch").get<std::string>();
  }
  if (requests.is_object()) take_requests(requests, command_.level, counted);
  counted.outcome.status = end.status;
  counted.outcome.signal = end.signal;
  counted.outcome.is_overdue = end.is_overdue;
  if (end.status != 0) return counted;
  if (run.has("problems")) {
    counted.problem = failure_cause(run.text("problems"));
  } else if (!process.is_object()) {
    counted.problem = "no process of the command used CUDA from PyTorch in Python";
  } else if (run.has("others")) {
    counted.problem =
        "several processes of the command use CUDA: requests are numbered within one process";
    counted.hint = "sweep the program that one of them runs; OHM_ABSENT_RANKS=1 starts one rank";
  } else if (!requests.is_object()) {
    counted.problem = "the process that used CUDA ended before it could record its requests";
  }
  return counted;
}

// ---- with faults --------------------------------------------------------------------------------

namespace {

json fault_of(const FaultTask& task) {
  return {{"call", task.call}, {"persistent", task.form == FaultForm::persistent}};
}

/// What the program had printed when the copy was made, and what the copy did; nothing: its output
/// is not a file of ours any more.
std::optional<std::string> printed_by_copy(const std::string& by_program,
                                           const std::string& by_copy, const json& written) {
  const std::int64_t before =
      written.is_object() ? written.value("printed_before", std::int64_t{-1}) : -1;
  if (before < 0) return {};
  return by_program.substr(0, static_cast<std::size_t>(before)) + by_copy;
}

double seconds_for(const CountedCommand& counted) {
  return std::max(kLeastSeconds, kTimesFaultFree * counted.seconds);
}

}  // namespace

CopiedMemory::Left TorchMemory::fail_in_copies(const CountedCommand& counted,
                                               const std::vector<FaultTask>& tasks,
                                               const OnEnd& on_end) {
  json faults = json::array();
  for (const FaultTask& task : tasks) faults.push_back(fault_of(task));
  TorchRun run(
      command_,
      {{"engine", "fork"}, {"faults", std::move(faults)}, {"copy_seconds", seconds_for(counted)}});
  run.start(runner(), 0);
  std::vector<bool> has_ended(tasks.size());
  const json ends = run.written("ends");
  const std::string printed = run.text("output");
  for (const json& end : ends.is_object() ? ends.at("ends") : json::array()) {
    const std::size_t task = end.at("fault");
    CommandOutcome outcome;
    const json written = run.written("outcome", fmt::format("-{}", task));
    take_outcome(written, outcome);
    outcome.printed = printed_by_copy(printed, run.text(fmt::format("output-{}", task)), written);
    take_status(end.at("status"), outcome);
    outcome.is_overdue = end.at("overdue");
    on_end(task, outcome);
    has_ended[task] = true;
  }
  Left left{{}, "other threads or processes of the program are at work there"};
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (!has_ended[i]) left.tasks.push_back(i);
  }
  return left;
}

namespace {

class FaultyTorchRun final : public OwnRun {
 public:
  FaultyTorchRun(const TorchCommand& command, const CountedCommand& counted, const FaultTask& task)
      : run_(command,
             {{"engine", "exec"}, {"faults", json::array({fault_of(task)})}, {"copy_seconds", 0}}),
        seconds_(kSecondsOfImports + seconds_for(counted)) {}

  ChildCommand command() const override { return run_.command(seconds_); }

  CommandOutcome outcome(const CommandEnd& end) const override {
    CommandOutcome outcome;
    take_outcome(run_.written("outcome", "-0"), outcome);
    outcome.printed = run_.text("output");
    outcome.status = end.status;
    outcome.signal = end.signal;
    outcome.is_overdue = end.is_overdue;
    return outcome;
  }

 private:
  // Of a run that is not copied the imports count, too.
  static constexpr double kSecondsOfImports = 60;

  TorchRun run_;
  double seconds_;
};

}  // namespace

std::unique_ptr<OwnRun> TorchMemory::own_run(const CountedCommand& counted,
                                             const FaultTask& task) const {
  return std::make_unique<FaultyTorchRun>(command_, counted, task);
}

std::string TorchMemory::plan_of(const FaultTask& task) const {
  const std::string schedule =
      fmt::format("{}({})", task.form == FaultForm::persistent ? "from" : "nth", task.call + 1);
  return command_.level == FaultLevel::segment ? schedule : "level(request) & " + schedule;
}

std::string TorchMemory::rerun_command(const std::string& plan) const {
  std::string text = "ohm exec --one-thread --gpu " + shell_quoted(command_.gpus);
  text += command_.values.words();
  if (!plan.empty()) text += " --fault " + shell_quoted(plan);
  return text + " -- " + shell_command(command_.words);
}

}  // namespace ohm::engine
