#include "tests/harness/sensitivity/mutation_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>

#include "harness/lua/scenario_loader.h"
#include "harness/run/runner.h"
#include "harness/scenario/source_file.h"

namespace ohm::test {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kAny = "*";
constexpr std::string_view kBetween = " | ";

class Silent final : public engine::RunObserver {
 public:
  void on_progress(std::size_t /*finished*/, std::size_t /*total*/) override {}
  void on_scenario(const ScenarioResult& /*scenario*/) override {}
};

engine::RunOutcome run(const std::string& path, const std::vector<std::string>& variants) {
  engine::RunOptions options;
  options.files = {path};
  options.jobs = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  options.checks_baselines = true;
  options.selection.cases = variants;
  Silent silent;
  return engine::run_scenarios(options, lua::load_scenario, silent);
}

Noticed noticed_by(const engine::RunOutcome& outcome) {
  if (outcome.exit_code() == 0) return Noticed::not_at_all;
  for (const ScenarioResult& scenario : outcome.result.scenarios) {
    const bool is_as_it_says =
        !scenario.error &&
        std::all_of(scenario.variants.begin(), scenario.variants.end(), [](const auto& variant) {
          return variant.verdict == Verdict::passed || variant.verdict == Verdict::skipped ||
                 variant.failure_type == FailureType::baseline_regression;
        });
    if (!is_as_it_says) return Noticed::by_run;
  }
  return Noticed::by_baseline;
}

std::string name_of(const std::string& scenario, const SourceMutant& mutant) {
  return fmt::format("{}{}{}{}{}", scenario, kBetween, mutant.kind, kBetween, mutant.where);
}

}  // namespace

EquivalentMutants::EquivalentMutants(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::size_t first = line.find(kBetween);
    const std::size_t second = line.find(kBetween, first + 1);
    const std::size_t last = line.rfind(kBetween);
    if (second == std::string::npos || last <= second) {
      throw std::runtime_error(
          fmt::format("\"{}\" is not \"scenario | kind | where | reason\"", line));
    }
    const auto part = [&](std::size_t begin, std::size_t end) {
      return line.substr(begin + kBetween.size(), end - begin - kBetween.size());
    };
    lines_.push_back({line.substr(0, first), part(first, second), part(second, last)});
  }
}

bool EquivalentMutants::has(const std::string& scenario, const SourceMutant& mutant) {
  const auto is = [](const std::string& pattern, const std::string& text) {
    return pattern == kAny || pattern == text;
  };
  const auto line = std::find_if(lines_.begin(), lines_.end(), [&](const Line& one) {
    return is(one.scenario, scenario) && one.kind == mutant.kind && is(one.where, mutant.where);
  });
  if (line == lines_.end()) return false;
  line->is_used = true;
  return true;
}

std::vector<std::string> EquivalentMutants::unused(const std::string& scenario) const {
  std::vector<std::string> unused;
  for (const Line& line : lines_) {
    if (line.is_used || line.scenario != scenario) continue;
    unused.push_back(
        fmt::format("{}{}{}{}{}", line.scenario, kBetween, line.kind, kBetween, line.where));
  }
  return unused;
}

void MutationTable::add(const std::string& path) {
  const fs::path original(path);
  fs::path baseline = original;
  baseline.replace_extension(".baseline");
  for (const fs::path& from : {original.parent_path() / "lib", baseline}) {
    fs::copy(from, folder_.path() / from.filename(),
             fs::copy_options::recursive | fs::copy_options::overwrite_existing);
  }
  if (noticed_by(run(path, {})) != Noticed::not_at_all) {
    throw std::runtime_error(path + " does not pass as it is");
  }
  engine::RunOptions options;
  options.files = {path};
  const engine::ScenarioDescription scenario =
      engine::list_scenarios(options, lua::load_scenario).at(0).description;
  const std::string source = engine::read_source_file(path);
  for (const SourceMutant& mutant : source_mutants(source, scenario)) {
    count(scenario.name, original.filename().string(), mutant);
  }
  for (const std::string& unused : equivalent_.unused(scenario.name)) {
    missed_.push_back(unused + " (is said to be equivalent, and is noticed or is not there)");
  }
}

void MutationTable::count(const std::string& scenario, const std::string& file,
                          const SourceMutant& mutant) {
  if (counts_.find(mutant.kind) == counts_.end()) kinds_.push_back(mutant.kind);
  Counts& counts = counts_[mutant.kind];
  ++counts.mutants;
  folder_.write(file, mutant.source);
  switch (noticed_by(run(folder_.file(file), mutant.variants))) {
    case Noticed::by_run:
      ++counts.by_run;
      return;
    case Noticed::by_baseline:
      ++counts.by_baseline;
      return;
    case Noticed::not_at_all:
      break;
  }
  if (equivalent_.has(scenario, mutant)) {
    ++counts.equivalent;
  } else {
    ++counts.missed;
    missed_.push_back(name_of(scenario, mutant));
  }
}

std::string MutationTable::text() const {
  std::string text = fmt::format(
      "| {:<18} | mutants | by the run | by the baseline | equivalent | missed |\n"
      "|:{:-<18}-|--------:|-----------:|----------------:|-----------:|-------:|\n",
      "kind", "");
  const auto add = [&text](const std::string& kind, const Counts& counts) {
    text +=
        fmt::format("| {:<18} | {:>7} | {:>10} | {:>15} | {:>10} | {:>6} |\n", kind, counts.mutants,
                    counts.by_run, counts.by_baseline, counts.equivalent, counts.missed);
  };
  Counts all;
  for (const std::string& kind : kinds_) {
    const Counts& counts = counts_.at(kind);
    add(kind, counts);
    all.mutants += counts.mutants;
    all.by_run += counts.by_run;
    all.by_baseline += counts.by_baseline;
    all.equivalent += counts.equivalent;
    all.missed += counts.missed;
  }
  add("all", all);
  return text;
}

}  // namespace ohm::test
