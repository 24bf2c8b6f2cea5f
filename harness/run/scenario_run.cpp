#include "harness/run/scenario_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "harness/gate/baseline_check.h"
#include "harness/judge/scenario_validation.h"
#include "harness/process/same_file.h"
#include "harness/run/input_files.h"
#include "harness/run/rerun_command.h"
#include "harness/run/variant_machine.h"
#include "harness/scenario/script_errors.h"
#include "harness/scenario/script_sources.h"
#include "harness/scenario/source_lines.h"

namespace ohm::engine {

namespace {

ErrorResult timeout_error(const std::string& what, double seconds) {
  return {fmt::format("{} ran longer than {:g} s", what, seconds),
          {},
          0,
          {},
          "--timeout SECONDS allows more"};
}

/// What a process that did not report died of; what it wrote last is the best hint there is.
ErrorResult crash_error(const std::string& what, const WorkResult& result) {
  return {
      fmt::format("the process of {} was {}", what, result.how_it_ended), {}, 0, result.output, {}};
}

/// What a process that did not end by itself means for the run.
ExitReason reason_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::timeout:
      return ExitReason::timeout;
    case Outcome::crashed:
      return ExitReason::internal_error;
    case Outcome::not_run:
      return ExitReason::interrupted;
    case Outcome::completed:
    case Outcome::oom:
    case Outcome::error:
      break;
  }
  return ExitReason::passed;
}

ExitReason reason_of(const VariantResult& variant) {
  switch (variant.verdict) {
    case Verdict::passed:
    case Verdict::recorded:
      return ExitReason::passed;
    case Verdict::failed:
      return ExitReason::failed;
    case Verdict::error:
      return worse_of(ExitReason::script_error, reason_of(variant.outcome));
    case Verdict::skipped:
      break;
  }
  return reason_of(variant.outcome);
}

Verdict verdict_of(const std::vector<VariantResult>& variants) {
  const auto any = [&](Verdict verdict) {
    return std::any_of(variants.begin(), variants.end(),
                       [&](const VariantResult& variant) { return variant.verdict == verdict; });
  };
  if (any(Verdict::error)) return Verdict::error;
  if (any(Verdict::failed)) return Verdict::failed;
  return any(Verdict::skipped) ? Verdict::skipped : Verdict::passed;
}

}  // namespace

ScenarioRun::ScenarioRun(std::size_t index, std::string path, const RunOptions& options,
                         const ScenarioLoader& loader, WorkerPool& pool)
    : index_(index),
      path_(std::move(path)),
      options_(options),
      loader_(loader),
      pool_(pool),
      recording_(options.recording) {}

void ScenarioRun::start() { submit_loading(/*lists_only=*/false); }
void ScenarioRun::start_listing() { submit_loading(/*lists_only=*/true); }

LoadRequest ScenarioRun::load_request() const {
  return engine::load_request(options_, path_, sources_);
}

// ---- loading ------------------------------------------------------------------------------------

void ScenarioRun::submit_loading(bool lists_only) {
  try {
    sources_ = read_script_sources(path_);
  } catch (const ScriptError& error) {
    fail(error_result(error), ExitReason::script_error);
    return;
  }
  const auto load = [this] { return encoded(load_scenario(loader_, load_request())); };
  pool_.submit(
      static_cast<std::int64_t>(index_), load,
      [this, lists_only](const WorkResult& result) { take_description(result, lists_only); });
}

void ScenarioRun::take_description(const WorkResult& result, bool lists_only) {
  const std::string what = "loading " + path_;
  switch (result.end) {
    case WorkEnd::interrupted:
      interrupted_ = true;
      is_finished_ = true;
      return;
    case WorkEnd::timeout:
      return fail(timeout_error(what, options_.timeout_seconds), ExitReason::timeout);
    case WorkEnd::crashed:
      return fail(crash_error(what, result), ExitReason::internal_error);
    case WorkEnd::message:
      break;
  }
  LoadedScenario loaded = decoded_scenario(result.message);
  add_modules(loaded, sources_);
  if (loaded.error) return fail(std::move(*loaded.error), ExitReason::script_error);
  try {
    measured_.description = validated(std::move(loaded.description));
    measured_.as_described = !changes_machine(options_);
  } catch (const ScriptError& error) {
    return fail(error_result(error), ExitReason::script_error);
  }
  is_finished_ = lists_only;
  if (lists_only) return;
  selected_ = selected_variants(measured_.description, options_.selection);
  find_baseline();
  if (!is_finished_ && check_snapshots()) run_what_is_selected();
}

// ---- snapshots ----------------------------------------------------------------------------------

/// Before anything runs: paths that cannot be written, or that are one for several variants, end
/// the scenario.
bool ScenarioRun::check_snapshots() {
  const SnapshotPaths& paths = options_.snapshots;
  if (paths.empty()) return true;
  ErrorResult error;
  if (selected_.size() > 1 && !paths.tells_variants_apart()) {
    error.message =
        fmt::format("--snapshot {} is one file, but {} variants of {} are selected ({})",
                    paths.text(), selected_.size(), path_, fmt::join(selected_, ", "));
    error.hint = "select one with --case, or name a folder or a path with {variant}";
  } else {
    try {
      for (const std::string& name : selected_) {
        check_snapshot(paths.path_for(path_, name));
      }
      return true;
    } catch (const std::runtime_error& unwritable) {
      error.message = fmt::format("--snapshot {}: {}", paths.text(), unwritable.what());
    }
  }
  selected_.clear();
  fail(std::move(error), ExitReason::usage);
  return false;
}

void ScenarioRun::check_snapshot(const std::string& path) {
  for (const std::string& input : input_files(options_)) {
    if (!is_same_file(path, input)) continue;
    throw std::runtime_error(fmt::format("this command reads {}", input));
  }
  // Signals are noted but not seen here: nothing may wait.
  reports::ReportFile can_be_written(path, reports::ReportFile::UnreadPipe::is_refused);
  // Who reads a pipe must not see its end before the snapshot.
  if (can_be_written.is_direct()) open_pipes_.push_back(std::move(can_be_written));
}

/// A variant that is run a second time, on a larger GPU for its values, leaves no files.
VariantFiles ScenarioRun::files_of(const VariantDescription& variant, bool as_reference) const {
  const bool is_repetition = as_reference && variant.role != Role::reference;
  VariantFiles files;
  files.script_writes = !is_repetition;
  if (options_.snapshots.empty() || is_repetition) return files;
  if (std::find(selected_.begin(), selected_.end(), variant.name) != selected_.end()) {
    files.snapshot_path = options_.snapshots.path_for(path_, variant.name);
  }
  return files;
}

std::vector<std::string> ScenarioRun::snapshot_errors() const {
  std::vector<std::string> errors;
  for (const auto* runs : {&measured_.variants, &measured_.references}) {
    for (const auto& [name, run] : *runs) {
      if (!run.snapshot_error.empty()) errors.push_back(run.snapshot_error);
    }
  }
  return errors;
}

// ---- baselines ----------------------------------------------------------------------------------

/// A baseline that cannot be read ends the scenario: it must not be taken for one that holds.
void ScenarioRun::find_baseline() {
  const std::string path = baseline_path(path_);
  std::error_code unknown;
  if (!options_.checks_baselines || !std::filesystem::exists(path, unknown)) return;
  try {
    baseline_ = read_baseline(path);
  } catch (const BaselineError& error) {
    selected_.clear();
    return fail({error.what(), path, 0, {}, {}}, ExitReason::script_error);
  }
  std::vector<std::string> names;
  for (const VariantDescription& variant : measured_.description.variants) {
    names.push_back(variant.name);
  }
  const std::vector<BaselineCheck> gone = gone_variants(*baseline_, names);
  if (!gone.empty()) {
    selected_.clear();
    return fail({fmt::format("{}: {}", gone.front().variant, gone.front().reason),
                 path,
                 0,
                 {},
                 "ohm baseline update drops what is not there any more"},
                ExitReason::script_error);
  }
  recording_ = std::max(recording_, Recording::peaks);
}

/// A variant that does what its role says but allocates more than before is a failure.
void ScenarioRun::apply_baseline(ScenarioResult& result) const {
  if (!baseline_ && !options_.requires_baselines) return;
  const std::vector<BaselineCheck> checks =
      check_baseline(baseline_.value_or(Baseline()), result, options_.seed);
  const std::string source_change = baseline_ ? engine::source_change(*baseline_, path_) : "";
  for (const BaselineCheck& check : checks) {
    const bool fails =
        check.state == BaselineCheck::State::regressed ||
        check.state == BaselineCheck::State::incomparable ||
        (check.state == BaselineCheck::State::missing && options_.requires_baselines);
    const auto variant =
        std::find_if(result.variants.begin(), result.variants.end(),
                     [&](const VariantResult& one) { return one.name == check.variant; });
    if (!fails || variant->verdict != Verdict::passed) continue;
    variant->verdict = Verdict::failed;
    variant->failure_type = FailureType::baseline_regression;
    variant->reason =
        baseline_ ? "against the baseline: " + check.reason
                  : fmt::format("there is no baseline; ohm baseline update {} writes it", path_);
    if (!source_change.empty()) variant->reason = source_change + "; " + variant->reason;
  }
}

// ---- running ------------------------------------------------------------------------------------

void ScenarioRun::run_what_is_selected() {
  std::set<std::string> needed(selected_.begin(), selected_.end());
  for (std::vector<std::string> todo = selected_; !todo.empty();) {
    const VariantDescription* variant = find_variant(measured_.description, todo.back());
    todo.pop_back();
    for (const std::string& other : needed_by(measured_.description, *variant)) {
      if (needed.insert(other).second) todo.push_back(other);
    }
  }
  make_workers();
  for (const VariantDescription& variant : measured_.description.variants) {
    if (needed.count(variant.name) == 0) continue;
    submit_variant(variant, /*as_reference=*/variant.role == Role::reference);
  }
  is_finished_ = pending_ == 0;
}

// There are two tasks for each variant: the second is a reference.
void ScenarioRun::make_workers() {
  const std::vector<VariantDescription>& variants = measured_.description.variants;
  const VariantWorkers::Tasks tasks = {2 * variants.size(),
                                       [this, &variants](std::size_t number) {
                                         return task_of(variants[number / 2],
                                                        /*as_reference=*/number % 2 == 1);
                                       },
                                       [this] {
                                         measured_ = {};
                                         selected_ = {};
                                       }};
  workers_.emplace(static_cast<std::int64_t>(index_), loader_, load_request(), tasks, pool_,
                   options_.checkpoint);
}

VariantTask ScenarioRun::task_of(const VariantDescription& variant, bool as_reference) const {
  return {variant.name,
          as_reference ? large_machine_for(measured_.description, variant, options_)
                       : machine_for(measured_.description, variant, options_),
          files_of(variant, as_reference),
          as_reference ? Recording::figures : recording_,
          options_.live_board,
          measured_.description.name + "." + variant.name};
}

void ScenarioRun::submit_variant(const VariantDescription& variant, bool as_reference) {
  ++pending_;
  const auto index = static_cast<std::size_t>(&variant - measured_.description.variants.data());
  workers_->submit(2 * index + (as_reference ? 1 : 0),
                   [this, name = variant.name, as_reference](const WorkResult& result) {
                     take_variant(name, as_reference, result);
                   });
}

MeasuredVariant ScenarioRun::measured_from(const std::string& name,
                                           const WorkResult& result) const {
  MeasuredVariant measured;
  switch (result.end) {
    case WorkEnd::interrupted:
      break;
    case WorkEnd::timeout:
      measured.outcome = Outcome::timeout;
      measured.error = timeout_error(name, options_.timeout_seconds);
      break;
    case WorkEnd::crashed:
      measured.outcome = Outcome::crashed;
      measured.error = crash_error(name, result);
      break;
    case WorkEnd::message:
      measured = decoded_variant(result.message);
      break;
  }
  measured.output = result.output;
  measured.seconds = result.seconds;
  return measured;
}

void ScenarioRun::take_variant(const std::string& name, bool as_reference,
                               const WorkResult& result) {
  auto& measured = as_reference ? measured_.references : measured_.variants;
  interrupted_ = interrupted_ || result.end == WorkEnd::interrupted;
  measured[name] = measured_from(name, result);
  --pending_;
  advance();
}

void ScenarioRun::advance() {
  if (pending_ > 0) return;
  if (!interrupted_) {
    for (const std::string& name : missing_references(measured_, selected_)) {
      submit_variant(*find_variant(measured_.description, name), /*as_reference=*/true);
    }
  }
  is_finished_ = pending_ == 0;
  if (is_finished_) workers_.reset();
}

// ---- the result ---------------------------------------------------------------------------------

void ScenarioRun::fail(ErrorResult error, ExitReason reason) {
  error_ = std::move(error);
  error_reason_ = reason;
  is_finished_ = true;
}

std::string ScenarioRun::rerun_command(const std::string& variant) const {
  return engine::rerun_command(options_, path_, measured_.description, variant, options_.fault);
}

/// Lines are told by their text, which stays when they move.
void ScenarioRun::add_source(ScenarioResult& result) const {
  if (recording_ == Recording::figures) return;
  SourceLines lines(path_, sources_);
  for (VariantResult& variant : result.variants) {
    if (variant.oom) lines.fill_in(variant.oom->holders);
    for (DeviceResult& device : variant.devices) {
      if (device.peak) lines.fill_in(device.peak->holders);
    }
  }
  if (recording_ == Recording::history) result.source = lines.of(path_);
}

ScenarioResult ScenarioRun::result() const {
  ScenarioResult result;
  const ScenarioDescription& description = measured_.description;
  result.file = path_;
  result.name =
      description.name.empty() ? std::filesystem::path(path_).stem().string() : description.name;
  result.summary = description.summary;
  result.error = error_;
  for (const ScenarioParameter& parameter : description.parameters) {
    result.parameters.push_back({parameter.name, parameter.value, parameter.default_value});
  }
  for (const std::string& name : selected_) {
    VariantResult variant = judge(measured_, *find_variant(description, name));
    variant.rerun = rerun_command(name);
    const auto measured = measured_.variants.find(name);
    if (options_.timestamps && measured != measured_.variants.end()) {
      variant.seconds = measured->second.seconds;
    }
    result.variants.push_back(std::move(variant));
  }
  for (const auto& [name, measured] : measured_.references) {
    if (!gives_values(description, selected_, name)) continue;
    result.references.push_back(reference_result(measured_, name));
    result.references.back().rerun = rerun_command(name);
  }
  add_source(result);
  apply_baseline(result);
  result.verdict = verdict_of(result.variants);
  if (interrupted_ && result.variants.empty()) result.verdict = Verdict::skipped;
  if (error_) result.verdict = Verdict::error;
  return result;
}

ListedScenario ScenarioRun::listing() const {
  ListedScenario listed{measured_.description, error_, error_reason_};
  listed.description.file = path_;
  return listed;
}

ExitReason ScenarioRun::exit_reason(const ScenarioResult& result) const {
  ExitReason reason = error_reason_;
  for (const VariantResult& variant : result.variants) {
    reason = worse_of(reason, reason_of(variant));
  }
  for (const auto* runs : {&measured_.variants, &measured_.references}) {
    for (const auto& [name, run] : *runs) reason = worse_of(reason, reason_of(run.outcome));
  }
  return reason;
}

}  // namespace ohm::engine
