// Prints how many mutants of the catalogue are noticed: mutation_table SCENARIO.lua...
//
// A mutant is noticed by the run, when a variant does not do what its role says, or else by the
// baseline beside the scenario. Those that nothing notices are listed; one that is in the file of
// equivalent mutants does what the original does,
// for the reason that stands there. Exit code 1 when a mutant is missed.
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "harness/lua/scenario_loader.h"
#include "harness/run/runner.h"
#include "harness/scenario/source_file.h"
#include "tests/harness/sensitivity/source_mutants.h"
#include "tests/support/temp_folder.h"

namespace ohm::test {
namespace {

namespace fs = std::filesystem;

struct Counts {
  int mutants = 0;
  int by_run = 0;
  int by_baseline = 0;
  int equivalent = 0;
  std::vector<std::string> missed;
};

class Silent final : public engine::RunObserver {
 public:
  void on_progress(std::size_t /*finished*/, std::size_t /*total*/) override {}
  void on_scenario(const ScenarioResult& /*scenario*/) override {}
};

/// "scenario | kind | where | reason", one in a line.
std::set<std::string> equivalent_mutants(const std::string& path) {
  std::set<std::string> known;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const std::size_t reason = line.rfind(" | ");
    if (!line.empty() && line[0] != '#') known.insert(line.substr(0, reason));
  }
  return known;
}

class Table {
 public:
  Table() : equivalent_(equivalent_mutants(OHM_EQUIVALENT_MUTANTS)) {}

  void add(const std::string& path) {
    const fs::path original(path);
    fs::copy(original.parent_path() / "lib", folder_.path() / "lib",
             fs::copy_options::recursive | fs::copy_options::overwrite_existing);
    fs::path baseline = original;
    baseline.replace_extension(".baseline");
    fs::copy_file(baseline, folder_.path() / baseline.filename(),
                  fs::copy_options::overwrite_existing);
    engine::RunOptions options;
    options.files = {path};
    const auto listed = engine::list_scenarios(options, lua::load_scenario);
    if (listed.at(0).error) throw std::runtime_error(listed[0].error->message);
    const engine::ScenarioDescription& scenario = listed[0].description;
    for (const SourceMutant& mutant : source_mutants(engine::read_source_file(path), scenario)) {
      count(scenario.name, original.filename().string(), mutant);
    }
  }

  /// Returns whether nothing was missed.
  bool print() const {
    fmt::print(
        "| {:<16} | mutants | noticed by the run | by the baseline | equivalent | missed |\n",
        "kind");
    fmt::print(
        "|{0:-<18}|--------:|-------------------:|----------------:|-----------:|-------:|\n", "");
    Counts all;
    for (const std::string& kind : kinds_) {
      const Counts& counts = counts_.at(kind);
      print(kind, counts);
      all.mutants += counts.mutants;
      all.by_run += counts.by_run;
      all.by_baseline += counts.by_baseline;
      all.equivalent += counts.equivalent;
      all.missed.insert(all.missed.end(), counts.missed.begin(), counts.missed.end());
    }
    print("all", all);
    for (const std::string& missed : all.missed) fmt::print("missed: {}\n", missed);
    return all.missed.empty();
  }

 private:
  static void print(const std::string& kind, const Counts& counts) {
    fmt::print("| {:<16} | {:>7} | {:>18} | {:>15} | {:>10} | {:>6} |\n", kind, counts.mutants,
               counts.by_run, counts.by_baseline, counts.equivalent, counts.missed.size());
  }

  void count(const std::string& scenario, const std::string& file, const SourceMutant& mutant) {
    if (counts_.find(mutant.kind) == counts_.end()) kinds_.push_back(mutant.kind);
    Counts& counts = counts_[mutant.kind];
    ++counts.mutants;
    const std::string name = fmt::format("{} | {} | {}", scenario, mutant.kind, mutant.where);
    folder_.write(file, mutant.source);
    if (is_noticed(file, /*with_baseline=*/false)) {
      ++counts.by_run;
    } else if (is_noticed(file, /*with_baseline=*/true)) {
      ++counts.by_baseline;
    } else if (equivalent_.count(name) > 0) {
      ++counts.equivalent;
    } else {
      counts.missed.push_back(name);
    }
  }

  bool is_noticed(const std::string& file, bool with_baseline) const {
    engine::RunOptions options;
    options.files = {(folder_.path() / file).string()};
    options.jobs = 2;
    options.checks_baselines = with_baseline;
    Silent silent;
    const engine::RunOutcome outcome = engine::run_scenarios(options, lua::load_scenario, silent);
    return outcome.exit_code() != 0;
  }

  TempFolder folder_;
  std::set<std::string> equivalent_;
  std::vector<std::string> kinds_;  ///< in the order of their first mutants
  std::map<std::string, Counts> counts_;
};

}  // namespace
}  // namespace ohm::test

int main(int count, char** arguments) {
  try {
    ohm::test::Table table;
    for (int i = 1; i < count; ++i) table.add(arguments[i]);
    return table.print() ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << "mutation_table: " << error.what() << '\n';
    return 2;
  }
}
