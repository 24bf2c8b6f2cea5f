// The result of a run: the one model that every report is a pure function of.
//
// Bytes are exact integers. Nothing here depends on the machine, the time or the number of jobs,
// except the fields that say so. Paths are as given on the command line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reports/model/cause_result.h"
#include "reports/model/conclusion_result.h"
#include "reports/model/error_result.h"
#include "reports/model/exit_code.h"
#include "reports/model/fields.h"
#include "reports/model/finding_result.h"
#include "reports/model/limit_result.h"
#include "reports/model/memory_history.h"
#include "reports/model/memory_result.h"
#include "reports/model/shard_result.h"
#include "reports/model/unknown_value.h"
#include "reports/model/value_result.h"
#include "reports/model/vocabulary.h"

namespace ohm {

struct VariantResult {
  std::string name;
  Role role = Role::problem;
  int line = 0;        ///< in the scenario's file
  std::string of;      ///< the problem it belongs to; empty for problems
  std::string trades;  ///< what it changes by its nature; empty: nothing
  Verdict verdict = Verdict::skipped;
  FailureType failure_type = FailureType::none;  ///< with verdict failed
  Outcome outcome = Outcome::not_run;
  std::string reason;                                  ///< the verdict in one line
  std::int64_t steps = 0;                              ///< marks of ohm.step()
  Equivalence equivalence = Equivalence::not_checked;  ///< with the values of `reference`
  std::string reference;                               ///< whose values they were compared with
  std::string difference;                              ///< the largest one; empty when none
  std::string comparison;           ///< its rules, "as float16"; empty: all values as they are
  std::vector<ValueResult> values;  ///< what it returned, by name
  std::optional<double> recovered_share;  ///< of a partial: 1 is all of the excess
  std::vector<DeviceResult> devices;      ///< every GPU of the machine, by index
  std::optional<HostResult> host;         ///< absent: not measured
  /// The largest, of a recorded program that has steps; of a scenario its limits measure it.
  std::optional<std::int64_t> growth_bytes_per_step;
  std::vector<LimitResult> limits;           ///< the scenario's, then its own
  std::optional<CauseResult> cause;          ///< of a recorded program that broke its gate
  std::optional<OomResult> oom;              ///< the one that ended it
  std::optional<ErrorResult> error;          ///< the error that ended it
  std::optional<MemoryHistory> history;      ///< where it was asked for
  std::optional<RetentionResult> retention;  ///< with a history
  std::vector<FindingResult> findings;       ///< of a record of another program
  bool has_events = true;                    ///< of a record; false: it shows one moment
  /// Of a record: the cause that its figures bear out. Absent: none does.
  std::optional<ConclusionResult> conclusion;
  /// Reads of values that no kernel computed, in the order of their first occurrence; at most 100.
  std::vector<UnknownValueResult> unknown_values;
  std::vector<std::string> unused_faults;  ///< plans that never fired
  std::string output;                      ///< what it printed, the first 64 KiB
  std::string rerun;                       ///< the command that repeats it
  std::optional<double> seconds;           ///< wall time; only with --timestamps

  static constexpr const char* kSchemaName = "variant";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = VariantResult;
    visit("name", &T::name);
    visit("role", &T::role);
    visit("line", &T::line);
    visit("of", &T::of, Presence::optional, "The problem it belongs to.");
    visit("trades", &T::trades, Presence::optional, "What the mitigation gives up.");
    visit("verdict", &T::verdict);
    visit("failure_type", &T::failure_type, "Empty unless the verdict is failed.");
    visit("outcome", &T::outcome);
    visit("reason", &T::reason);
    visit("steps", &T::steps);
    visit("equivalence", &T::equivalence);
    visit("reference", &T::reference, Presence::optional,
          "Variant whose values were the reference.");
    visit("difference", &T::difference, Presence::optional);
    visit("comparison", &T::comparison, Presence::optional,
          "Comparison rules, unless all values are compared exactly.");
    visit("values", &T::values, Presence::optional, "Summary figures of what it returned.");
    visit("recovered_share", &T::recovered_share, Presence::optional,
          "Of a partial: 1 is all of the problem's excess.");
    visit("devices", &T::devices);
    visit("host", &T::host, Presence::optional);
    visit("growth_bytes_per_step", &T::growth_bytes_per_step, Presence::optional,
          "Largest growth of a recorded program that has steps.");
    visit("limits", &T::limits);
    visit("cause", &T::cause, Presence::optional,
          "Of a recorded program that broke its gate: the lines of the figure that is too large.");
    visit("oom", &T::oom, Presence::optional);
    visit("error", &T::error, Presence::optional);
    visit("history", &T::history, Presence::optional,
          "What every block did; where it was asked for.");
    visit("retention", &T::retention, Presence::optional,
          "With a history: what the script's variables kept alive.");
    visit("findings", &T::findings, Presence::optional,
          "Of a record of another program: what it shows, in the words of the catalogue.");
    visit("has_events", &T::has_events, Presence::optional,
          "Of a record: false where it shows one moment alone.");
    visit("conclusion", &T::conclusion, Presence::optional,
          "Of a record of another program: its cause, line and remedy.");
    visit("unknown_values", &T::unknown_values, Presence::optional,
          "Of ohm exec: lines that read values which no kernel computed, in the order of their "
          "first occurrence; at most 100.");
    visit("unused_faults", &T::unused_faults, Presence::optional, "Fault plans that never fired.");
    visit("output", &T::output, Presence::optional);
    visit("rerun", &T::rerun);
    visit("seconds", &T::seconds, Presence::optional, kExact, "Wall time; only with --timestamps.");
  }
};

/// A number that a scenario declares.
struct ParameterResult {
  std::string name;
  double value = 0;          ///< in force
  double default_value = 0;  ///< as the scenario has it

  static constexpr const char* kSchemaName = "parameter";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = ParameterResult;
    visit("name", &T::name);
    visit("value", &T::value, "Value in force.");
    visit("default", &T::default_value, "Value in the scenario.");
  }
};

/// A place in the program, and how many of the failures injected there had which verdict.
struct HeatMapRow {
  std::string point;  ///< "ohm:3f9c22d1"
  std::string op;
  std::string file;
  int line = 0;
  std::vector<std::int64_t> counts;  ///< as many as the map has columns

  static constexpr const char* kSchemaName = "heat_map_row";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = HeatMapRow;
    visit("point", &T::point);
    visit("op", &T::op);
    visit("file", &T::file);
    visit("line", &T::line);
    visit("counts", &T::counts);
  }
};

/// The verdicts of the failures that a sweep injected into a variant.
struct HeatMapResult {
  std::string variant;
  std::vector<std::string> columns;  ///< "good", then the other verdicts that occur
  std::vector<HeatMapRow> rows;      ///< in the order of the program

  static constexpr const char* kSchemaName = "heat_map";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = HeatMapResult;
    visit("variant", &T::variant);
    visit("columns", &T::columns);
    visit("rows", &T::rows);
  }
};

struct ScenarioResult {
  std::string name;  ///< the file's stem when it could not be loaded
  std::string summary;
  std::string file;
  std::string folder;  ///< that paths are named from, seen from its repository; empty: its top
  std::vector<ParameterResult> parameters;  ///< in byte order of their names
  Verdict verdict = Verdict::skipped;
  std::optional<ErrorResult> error;       ///< why it could not be loaded
  std::vector<VariantResult> variants;    ///< those selected: problems first, in file order
  std::vector<VariantResult> references;  ///< run for their values alone, not judged
  std::vector<std::string> source;        ///< the lines of `file`; only beside histories
  std::vector<HeatMapResult> heat_maps;   ///< of a sweep, where one is shown as well

  static constexpr const char* kSchemaName = "scenario";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = ScenarioResult;
    visit("name", &T::name);
    visit("summary", &T::summary);
    visit("file", &T::file, "As given on the command line.");
    visit("folder", &T::folder, Presence::optional,
          "The folder that paths are named from, seen from the top of its repository.");
    visit("parameters", &T::parameters, Presence::optional,
          "Numbers that the scenario declares; absent if there are none.");
    visit("verdict", &T::verdict);
    visit("error", &T::error, Presence::optional, "Why the scenario could not be loaded.");
    visit("variants", &T::variants);
    visit("references", &T::references, "Run for their values alone, not judged.");
    visit("source", &T::source, Presence::optional, "The lines of the file; beside histories.");
    visit("heat_maps", &T::heat_maps, kUnwritten);
  }
};

/// The command that scenarios are the processes of.
struct CommandResult {
  std::string command;           ///< as a shell would be given it
  std::int64_t exit_status = 0;  ///< its own; 128 + the number of a signal that ended it

  static constexpr const char* kSchemaName = "command";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = CommandResult;
    visit("command", &T::command, "Command line, quoted for a shell.");
    visit("exit_status", &T::exit_status,
          "Exit status of the command; 128 + N if signal N ended it.");
  }
};

struct RunResult {
  ExitReason exit_reason = ExitReason::passed;
  std::vector<ScenarioResult> scenarios;
  std::optional<CommandResult> command;  ///< absent: scenarios are files
  std::optional<ShardResult> shard;      ///< absent: all of the run

  static constexpr const char* kSchemaName = "result";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = RunResult;
    visit("exit_reason", &T::exit_reason);
    visit("scenarios", &T::scenarios);
    visit("command", &T::command, Presence::optional,
          "Of ohm exec: scenarios are the processes of this command.");
    visit("shard", &T::shard, Presence::optional,
          "Which part of the run it is (--shard); absent when it is all of it.");
  }
};

}  // namespace ohm
