#include "harness/gate/recorded_baseline.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include "harness/process/shell_quote.h"
#include "reports/history/result_diff.h"
#include "reports/json/result_input.h"
#include "reports/text/measured_text.h"
#include "reports/text/unknown_values_text.h"

namespace ohm::engine {

namespace {

bool is_baseline_file(InputFile& file, const std::string& path) {
  constexpr std::size_t kLeastBytes = 5;
  const std::string_view start = file.beginning(kLeastBytes);
  // What is too short for anything is said in the words of baselines.
  return start.size() < kLeastBytes || (!start.starts_with('{') && !reports::is_pickle(file, path));
}

/// Of one variant.
void check_values_known(const VariantResult& variant, const std::string& path) {
  if (variant.unknown_values.empty()) return;
  throw BaselineError(
      fmt::format("{}: cannot be a baseline: {}; --allow-unknown-values compares them "
                  "anyway",
                  path, reports::unknown_value_lines(variant.unknown_values).front()));
}

/// Of a result by scenario: each has the one variant that a recording has.
std::map<std::string, Baseline> baselines_in(InputFile& file, const std::string& path,
                                             bool allows_unknown_values) {
  std::map<std::string, Baseline> baselines;
  if (is_baseline_file(file, path)) {
    baselines[""] = read_baseline(file, path);
    return baselines;
  }
  const RunResult other = reports::read_result_or_snapshot(file, path);
  for (const ScenarioResult& scenario : other.scenarios) {
    if (scenario.variants.size() != 1) {
      throw BaselineError(fmt::format(
          "{}: does not have exactly one variant, as the result of a snapshot has", path));
    }
    if (!allows_unknown_values) check_values_known(scenario.variants.front(), path);
    baselines[scenario.name] = baseline_of(scenario, 0);
  }
  if (baselines.empty()) throw BaselineError(fmt::format("{}: an empty result", path));
  return baselines;
}

std::map<std::string, Baseline> baselines_at(const std::string& path, bool allows_unknown_values) {
  try {
    InputFile file(path);
    return baselines_in(file, path, allows_unknown_values);
  } catch (const std::system_error& error) {
    throw BaselineError(fmt::format("cannot read {}: {}", path, error.code().message()));
  }
}

constexpr std::string_view kSteps = "steps";
constexpr std::string_view kGrowthPerStep = "growth_bytes_per_step";

void check_measure(const std::string& name) {
  std::vector<std::string_view> known = {kSteps, kGrowthPerStep};
  for (const reports::DeviceFigure& figure : reports::device_figures())
    known.push_back(figure.name);
  for (const reports::HostFigure& figure : reports::host_figures()) known.push_back(figure.name);
  if (std::find(known.begin(), known.end(), name) != known.end()) return;
  throw std::invalid_argument(
      fmt::format("--measure {}: is none of {}", name, fmt::join(known, ", ")));
}

/// "+12.00 MiB (+3.1 %)", "+8 (+7.0 %)".
std::string change_text(std::int64_t change, std::int64_t from, Unit unit) {
  const std::string amount = unit == Unit::bytes ? reports::short_bytes(std::abs(change))
                                                 : reports::grouped(std::abs(change));
  const std::string sign = change < 0 ? "−" : "+";
  if (from == 0) return sign + amount;
  return fmt::format("{}{} ({}{:.1f} %)", sign, amount, sign,
                     100.0 * static_cast<double>(std::abs(change)) / static_cast<double>(from));
}

std::string joined(const std::vector<std::string>& parts) {
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

std::vector<std::string> default_measures() {
  return {"peak_allocated_bytes", "peak_reserved_bytes", std::string(kGrowthPerStep), "num_ooms",
          "peak_host_bytes"};
}

std::string baseline_words(const RecordedBaselineOptions& options) {
  std::string words;
  for (const std::string& path : options.paths) words += " --baseline " + shell_quoted(path);
  for (const std::string& measure : options.measures) words += " --measure " + measure;
  if (options.tolerance_percent > 0) {
    words += fmt::format(" --tolerance {}", options.tolerance_percent);
  }
  if (options.allows_unknown_values) words += " --allow-unknown-values";
  if (options.refuses_modelled) words += " --refuse-modelled";
  return words;
}

RecordedBaseline::RecordedBaseline(RecordedBaselineOptions options) : options_(std::move(options)) {
  for (const std::string& measure : options_.measures) check_measure(measure);
  if (options_.measures.empty()) options_.measures = default_measures();
  for (const std::string& path : options_.paths) {
    baselines_.push_back({path, baselines_at(path, options_.allows_unknown_values)});
  }
}

RecordedBaseline::Outcome RecordedBaseline::judge(const ScenarioResult& scenario, bool is_only,
                                                  const std::vector<std::string>& limits) const {
  std::vector<BaselineCheck> checks;
  for (const File& file : baselines_) {
    const bool is_meant = is_only && file.of_processes.size() == 1;
    const auto known = is_meant ? file.of_processes.begin() : file.of_processes.find(scenario.name);
    if (known == file.of_processes.end()) {
      return {true, fmt::format("{} has no figures of {}", file.path, scenario.name), {}, {}};
    }
    for (BaselineCheck& check : check_baseline(known->second, scenario, 0)) {
      using State = BaselineCheck::State;
      if (check.state == State::incomparable || check.state == State::missing) {
        return {true, fmt::format("against {}: {}", file.path, check.reason), {}, {}};
      }
      check.limits_changed =
          limits_change(known->second.variants.at(check.variant).figures, limits);
      checks.push_back(std::move(check));
    }
  }
  return outcome(checks);
}

/// Those that differ from any of the recordings: in the others they are as they are now.
std::vector<RecordedBaseline::Figure> RecordedBaseline::figures(
    const std::vector<BaselineCheck>& checks) const {
  std::vector<Figure> figures;
  std::vector<std::size_t> seen;
  const auto add = [&](const reports::FigureChange& change, const std::string& of) {
    const std::string name = of.empty() ? change.figure : of + " " + change.figure;
    auto known = std::find_if(figures.begin(), figures.end(),
                              [&](const Figure& figure) { return figure.name == name; });
    if (known == figures.end()) {
      figures.push_back({name, change.unit, change.before, change.before, change.after});
      seen.push_back(1);
      return;
    }
    known->least = std::min(known->least, change.before);
    known->most = std::max(known->most, change.before);
    ++seen[static_cast<std::size_t>(known - figures.begin())];
  };
  for (const BaselineCheck& check : checks) {
    for (const reports::FigureChange& change : check.diff.figures) add(change, "");
    for (const reports::DeviceDiff& device : check.diff.devices) {
      for (const reports::FigureChange& change : device.figures) add(change, device.device);
    }
  }
  for (std::size_t i = 0; i < figures.size(); ++i) {
    if (seen[i] == checks.size()) continue;
    figures[i].least = std::min(figures[i].least, figures[i].now);
    figures[i].most = std::max(figures[i].most, figures[i].now);
  }
  return figures;
}

bool RecordedBaseline::is_measured(const Figure& figure) const {
  const std::size_t blank = figure.name.rfind(' ');
  const std::string name = blank == std::string::npos ? figure.name : figure.name.substr(blank + 1);
  return std::find(options_.measures.begin(), options_.measures.end(), name) !=
         options_.measures.end();
}

/// Fewer steps are another course.
bool RecordedBaseline::fails(const Figure& figure) const {
  if (!is_measured(figure)) return false;
  if (figure.name == kSteps) return figure.increase() > 0 || figure.decrease() > 0;
  const auto percent = static_cast<std::int64_t>(static_cast<double>(figure.most) *
                                                 options_.tolerance_percent / 100);
  return figure.increase() > std::max(figure.most - figure.least, percent);
}

std::string RecordedBaseline::before_text() const {
  return options_.paths.size() == 1 ? options_.paths.front()
                                    : fmt::format("{} recordings", options_.paths.size());
}

RecordedBaseline::Outcome RecordedBaseline::outcome(
    const std::vector<BaselineCheck>& checks) const {
  std::string first_figure;
  std::vector<std::string> failing;
  std::vector<std::string> larger;
  std::vector<std::string> smaller;
  for (const BaselineCheck& check : checks) {
    for (const std::string& note : check.diff.notes) {
      const bool is_new = std::find(failing.begin(), failing.end(), note) == failing.end();
      if (is_new) failing.push_back(note);
    }
  }
  for (const Figure& figure : figures(checks)) {
    const bool is_larger = figure.increase() > 0;
    if (!is_larger && figure.decrease() <= 0) continue;
    const std::string text =
        fmt::format("{} {}", figure.name,
                    is_larger ? change_text(figure.increase(), figure.most, figure.unit)
                              : change_text(-figure.decrease(), figure.least, figure.unit));
    const bool is_failing = fails(figure);
    if (is_failing && first_figure.empty()) first_figure = figure.name;
    (is_failing ? failing : is_larger ? larger : smaller).push_back(text);
  }
  std::string rest;
  if (!larger.empty()) rest += "; larger, but not judged: " + joined(larger);
  if (!smaller.empty()) rest += "; smaller: " + joined(smaller);
  for (const BaselineCheck& check : checks) {
    if (check.limits_changed.empty()) continue;
    rest += "; " + check.limits_changed;
    break;
  }
  if (!failing.empty()) {
    return {true, fmt::format("against {}: {}{}", before_text(), joined(failing), rest),
            first_figure, checks.front().diff};
  }
  if (rest.empty()) return {};
  return {false, fmt::format("nothing fails against {}{}", before_text(), rest), {}, {}};
}

}  // namespace ohm::engine
