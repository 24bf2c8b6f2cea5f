// Prints how many of the seeded bugs of tests/recovery_bugs each choice of options finds, and how
// many of the correct programs it calls wrong. Exit code 1 when that is not as their comments say.
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include "tests/harness/sweep/recovery_bugs.h"

namespace ohm::test {
namespace {

using engine::PointChoice;

constexpr const char* kDefault = "none: the default";

struct Row {
  std::string options;
  bool has_values = true;
  CorpusSweep sweep;
};

struct Options {
  PointChoice::Kind points = PointChoice::Kind::spread;
  bool persistent = false;  ///< too; `spread` tries it by itself
  int depth = 1;
  bool size_only = false;
};

Row row(const std::string& text, const std::vector<RecoveryProgram>& programs,
        const Options& options) {
  engine::SweepOptions sweep;
  sweep.points.kind = options.points;
  sweep.forms = sweep.points.forms();
  if (options.persistent) sweep.forms = {FaultForm::transient, FaultForm::persistent};
  sweep.trials.depth = options.depth;
  sweep.run.size_only = options.size_only;
  sweep.run.jobs = 2;
  return {text, !options.size_only, sweep_corpus(programs, sweep)};
}

std::vector<Row> rows(const std::vector<RecoveryProgram>& programs) {
  using Kind = PointChoice::Kind;
  return {
      row("`--points unique`", programs, {Kind::unique}),
      row("`--points unique --form both`", programs, {Kind::unique, true}),
      row(kDefault, programs, {}),
      row("`--points all`", programs, {Kind::all}),
      row("`--points all --form both`", programs, {Kind::all, true}),
      row("`--depth 2`", programs, {Kind::spread, true, 2}),
      row("`--size-only --depth 2`", programs, {Kind::spread, true, 2, true}),
  };
}

std::size_t count(const std::vector<RecoveryProgram>& programs,
                  const std::function<bool(const RecoveryProgram&)>& is_meant) {
  return static_cast<std::size_t>(std::count_if(programs.begin(), programs.end(), is_meant));
}

void print(const std::vector<Row>& table, const std::vector<RecoveryProgram>& programs) {
  const auto is_bug = [](const RecoveryProgram& program) { return program.is_bug(); };
  const std::size_t bugs = count(programs, is_bug);
  fmt::print("{} programs: {} with a bug, {} without\n\n", programs.size(), bugs,
             programs.size() - bugs);
  fmt::print("| options | faults | bugs found | false alarms |\n|---|---:|---:|---:|\n");
  for (const Row& row : table) {
    const auto is_found = [&](const RecoveryProgram& program) {
      return program.is_bug() && row.sweep.finds(program);
    };
    const auto is_false_alarm = [&](const RecoveryProgram& program) {
      return !program.is_bug() && !row.sweep.is_clean(program);
    };
    fmt::print("| {} | {} | {} | {} |\n", row.options, row.sweep.faults, count(programs, is_found),
               count(programs, is_false_alarm));
  }
}

/// The options that a program meets `is_met` with, and whether the default is one of them.
struct Met {
  std::string options;
  bool by_default = false;
};

Met met(const std::vector<Row>& table, const std::function<bool(const Row&)>& is_met) {
  Met found;
  for (const Row& row : table) {
    if (!is_met(row)) continue;
    found.options += (found.options.empty() ? "" : ", ") + row.options;
    found.by_default = found.by_default || row.options == kDefault;
  }
  return found;
}

/// Lists a bug that the default does not find; returns whether it is as its comment says.
bool print_missed(const std::vector<Row>& table, const RecoveryProgram& program) {
  const Met found = met(table, [&](const Row& row) { return row.sweep.finds(program); });
  const bool is_listed = found.options.empty() ? !program.not_found.empty()
                                               : found.by_default == program.not_by_default.empty();
  if (found.by_default && is_listed) return true;
  const std::string& reason = found.options.empty() ? program.not_found : program.not_by_default;
  fmt::print("- `{}`: {}. {}: {}.\n", program.name, program.bug,
             found.options.empty() ? "Found by no option" : "Found by " + found.options,
             reason.empty() ? "no reason is given" : reason);
  return is_listed;
}

/// Lists a correct program that is called wrong; returns whether it is as its comment says.
bool print_false_alarm(const std::vector<Row>& table, const RecoveryProgram& program) {
  const Met wrong = met(table, [&](const Row& row) { return !row.sweep.is_clean(program); });
  if (wrong.options.empty()) return true;
  fmt::print("- `{}` is called wrong by {}: {}.\n", program.name, wrong.options,
             program.needs_values);
  const Met with_values =
      met(table, [&](const Row& row) { return row.has_values && !row.sweep.is_clean(program); });
  return with_values.options.empty() && !program.needs_values.empty();
}

bool print_lists(const std::vector<Row>& table, const std::vector<RecoveryProgram>& programs) {
  bool is_complete = true;
  fmt::print("\n");
  for (const RecoveryProgram& program : programs) {
    const bool is_right =
        program.is_bug() ? print_missed(table, program) : print_false_alarm(table, program);
    is_complete = is_complete && is_right;
  }
  return is_complete;
}

}  // namespace
}  // namespace ohm::test

int main() {
  try {
    const auto programs = ohm::test::recovery_programs(OHM_RECOVERY_BUGS);
    const std::vector<ohm::test::Row> table = ohm::test::rows(programs);
    ohm::test::print(table, programs);
    return ohm::test::print_lists(table, programs) ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << "corpus_table: " << error.what() << '\n';
    return 2;
  }
}
