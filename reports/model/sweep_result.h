// The result of a sweep: what became of each injected failure. Reports are pure functions of it.
//
// Nothing here depends on the machine, the time, the number of jobs or the engine.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "reports/model/exit_code.h"
#include "reports/model/fields.h"
#include "reports/model/run_result.h"
#include "reports/model/shard_result.h"
#include "reports/model/vocabulary.h"

namespace ohm {

/// What became of one injected failure. Only the first two are good.
enum class FaultVerdict : std::uint8_t {
  clean_error,          ///< it surfaced as out of memory, and nothing was lost
  recovered_same,       ///< the program went on; its results are those of the fault-free run
  recovered_different,  ///< it did the work again, with other results
  swallowed,            ///< it went on as if nothing had happened, and the work is missing
  wrong_error,          ///< it ended with another error
  leak,                 ///< memory is held that the fault-free run does not hold
  corrupt,              ///< an invariant broke, a mode was left on, or its objects cannot be used
  crash,                ///< the process ended
  hang,                 ///< no progress
  nondeterministic,     ///< equal runs make different requests
  not_reached,          ///< the request that was to fail was never made
  lost_work,            ///< after a restart, part of the work is missing
  retried,              ///< a failed call was repeated after a sticky error
};

struct FaultVerdictName {
  std::string_view name;
  bool is_good;
};

/// Indexed by FaultVerdict.
inline constexpr std::array<FaultVerdictName, 13> kFaultVerdicts = {{
    {"clean_error", true},
    {"recovered_same", true},
    {"recovered_different", false},
    {"swallowed", false},
    {"wrong_error", false},
    {"leak", false},
    {"corrupt", false},
    {"crash", false},
    {"hang", false},
    {"nondeterministic", false},
    {"not_reached", false},
    {"lost_work", false},
    {"retried", false},
}};

constexpr std::string_view name_of(FaultVerdict verdict) {
  return kFaultVerdicts[static_cast<std::size_t>(verdict)].name;
}
constexpr std::size_t word_count(FaultVerdict /*of*/) { return kFaultVerdicts.size(); }
constexpr bool is_good(FaultVerdict verdict) {
  return kFaultVerdicts[static_cast<std::size_t>(verdict)].is_good;
}

/// Whether a failure fires once or for good.
enum class FaultForm : std::uint8_t { transient, persistent };

inline constexpr std::array<std::string_view, 2> kFaultFormNames = {"transient", "persistent"};

constexpr std::string_view name_of(FaultForm form) {
  return kFaultFormNames[static_cast<std::size_t>(form)];
}
constexpr std::size_t word_count(FaultForm /*of*/) { return kFaultFormNames.size(); }

/// An error as a sweep's JSON has it: without its traceback.
struct BriefError {
  std::string message;
  std::string file;
  int line = 0;
  std::string hint;

  static constexpr const char* kSchemaName = "error";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = BriefError;
    visit("message", &T::message);
    visit("file", &T::file);
    visit("line", &T::line);
    visit("hint", &T::hint);
  }
};

inline std::optional<BriefError> brief(const std::optional<ErrorResult>& error) {
  if (!error) return std::nullopt;
  return BriefError{error->message, error->file, error->line, error->hint};
}

/// A place in the program at which memory is asked for.
struct SweepPoint {
  std::string point;   ///< "ohm:3f9c22d1"
  std::string level;   ///< "request", "segment", …
  std::string device;  ///< "cuda:0", "cpu"
  Category category = Category::other;
  std::string op;
  std::string file;
  int line = 0;
  std::vector<std::string> stack;  ///< "file:line" of the program's frames, the outermost first
  std::int64_t passes = 0;         ///< how often the fault-free run passes it
  std::int64_t faults = 0;         ///< that were injected here
  std::int64_t unhandled =
      0;  ///< of these, those that the program did not catch; of both forms the transient ones

  static constexpr const char* kSchemaName = "point";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = SweepPoint;
    visit("point", &T::point, "ohm:HEX, as a fault plan takes it.");
    visit("level", &T::level);
    visit("device", &T::device);
    visit("category", &T::category);
    visit("op", &T::op, "Empty outside any op.");
    visit("file", &T::file);
    visit("line", &T::line);
    visit("stack", &T::stack, "file:line of the program's frames, the outermost first.");
    visit("passes", &T::passes, "Passes in the fault-free run.");
    visit("faults", &T::faults);
    visit("unhandled", &T::unhandled,
          "Faults that the program did not catch; where both forms are tried, transient ones.");
  }
};

/// What recoveries do otherwise than the fault-free run, where that is not a verdict.
enum class RecoveryDeviation : std::uint8_t {
  unprinted_line,        ///< a line of the fault-free run's is not printed
  fewer_requests,        ///< fewer requests are granted
  more_when_made_again,  ///< more is allocated when the failed request is made again than before
};

inline constexpr std::array<std::string_view, 3> kRecoveryDeviationNames = {
    "unprinted_line", "fewer_requests", "more_when_made_again"};

constexpr std::string_view name_of(RecoveryDeviation deviation) {
  return kRecoveryDeviationNames[static_cast<std::size_t>(deviation)];
}
constexpr std::size_t word_count(RecoveryDeviation /*of*/) {
  return kRecoveryDeviationNames.size();
}

/// How many recoveries deviate, and an example: the first one, or the one with the most bytes.
struct RecoveryNote {
  RecoveryDeviation deviation = RecoveryDeviation::unprinted_line;
  std::int64_t count = 0;
  std::string plan;  ///< of the example
  FaultForm form = FaultForm::transient;
  std::int64_t call = 0;   ///< that failed, of the fault-free run's, from 1
  std::string line;        ///< that is not printed; empty: of another deviation
  std::int64_t bytes = 0;  ///< that are allocated beside; 0: of another deviation

  static constexpr const char* kSchemaName = "recovery_note";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = RecoveryNote;
    visit("deviation", &T::deviation);
    visit("count", &T::count, "Number of such recoveries.");
    visit("plan", &T::plan, "Plan of the first one, or of the one with the most bytes.");
    visit("form", &T::form);
    visit("call", &T::call, "Which of the fault-free run's calls failed, from 1.");
    visit("line", &T::line, Presence::optional, "The first line that was not printed.");
    visit("bytes", &T::bytes, Presence::optional, "Bytes allocated in addition.");
  }
};

/// Of two of a kind: both counts, and the better example.
inline RecoveryNote sum_of(const RecoveryNote& a, const RecoveryNote& b) {
  const auto place = [](const RecoveryNote& note) {
    return std::make_tuple(-note.bytes, note.call, note.form);
  };
  RecoveryNote sum = place(b) < place(a) ? b : a;
  sum.count = a.count + b.count;
  return sum;
}

/// An injected failure whose verdict is not good.
struct FailedFault {
  std::string plan;  ///< as --fault takes it: "ohm:3f9c22d1@1"
  FaultForm form = FaultForm::transient;
  FaultVerdict verdict = FaultVerdict::clean_error;
  std::string what;       ///< one sentence: what was found
  std::int64_t call = 0;  ///< which of the fault-free run's calls, from 1
  std::string op;         ///< of the request
  std::string file;
  int line = 0;
  std::int64_t bytes = 0;
  std::string waived;  ///< the reason; empty: not waived
  std::string rerun;   ///< the command that repeats it
  /// That failed by itself, as no line of the script can prevent; empty: the program is to blame.
  std::string interpreter;
  std::vector<std::string> stack;  ///< of a script: "file:line in function", the outermost first
  std::string errors;              ///< the end of its standard error; empty: not known

  static constexpr const char* kSchemaName = "failed";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = FailedFault;
    visit("plan", &T::plan, "As --fault takes it.");
    visit("form", &T::form);
    visit("verdict", &T::verdict);
    visit("what", &T::what);
    visit("call", &T::call, "Which of the fault-free run's calls failed, from 1.");
    visit("op", &T::op);
    visit("file", &T::file);
    visit("line", &T::line);
    visit("bytes", &T::bytes);
    visit("waived", &T::waived, Presence::optional, "The reason; absent: not waived.");
    visit("rerun", &T::rerun, "The command that repeats it.");
    visit("interpreter", &T::interpreter, Presence::optional,
          "The interpreter that failed by itself; absent: the program is to blame.");
    visit("stack", &T::stack, Presence::optional,
          "Lines of the script where the request failed, the outermost first.");
    visit("errors", &T::errors, Presence::optional,
          "The end of its standard error, of a command with a fault of its GPU, or a lost rank.");
  }
};

struct SweptVariant {
  std::string name;
  Role role = Role::mitigation;
  std::string of;  ///< the problem that it mitigates; empty: none
  int line = 0;
  std::optional<ErrorResult> error;  ///< why it could not be swept
  bool values = true;                ///< false: recovery is judged by the events that follow it
  std::int64_t calls = 0;            ///< that the fault-free run makes at the level that is swept
  std::int64_t faults = 0;           ///< injected
  std::int64_t benign = 0;           ///< survived by design: only the allocator saw them
  std::int64_t handled = 0;          ///< caught by the program
  std::array<std::int64_t, kFaultVerdicts.size()> verdicts = {};  ///< indexed by FaultVerdict
  std::int64_t peak_bytes = 0;               ///< allocated on one GPU without a fault
  std::int64_t peak_after_faults_bytes = 0;  ///< the largest of the runs that went on
  std::int64_t repeated_calls = 0;  ///< that those made more than the fault-free run, together
  std::int64_t waived = 0;
  std::int64_t untested = 0;        ///< were to be injected too, when the sweep was interrupted
  std::int64_t not_tried = 0;       ///< failures of one call, in either form, that were not chosen
  std::int64_t beyond_budget = 0;   ///< of these, what cost too much for `spread`
  std::vector<SweepPoint> points;   ///< in the order in which they are first passed
  std::vector<FailedFault> failed;  ///< in the order of the calls; transient before persistent
  std::vector<RecoveryNote> notes;  ///< one of a kind, in the order of the kinds

  static std::optional<BriefError> brief_error(const SweptVariant& of) { return brief(of.error); }

  static constexpr const char* kSchemaName = "variant";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = SweptVariant;
    visit("name", &T::name);
    visit("role", &T::role);
    visit("of", &T::of, "The problem that it mitigates; empty: none.");
    visit("line", &T::line);
    visit("error", &T::error, kUnwritten);
    visit("values", &T::values, "False: recovery is judged by the events that follow the failure.");
    visit("calls", &T::calls, "Calls of the fault-free run at the swept level.");
    visit("faults", &T::faults);
    visit("benign", &T::benign, "Faults that the allocator survived by itself.");
    visit("handled", &T::handled, "Faults that did not leave the program as an error.");
    visit("verdicts", &T::verdicts, kKeyedBy<FaultVerdict>);
    visit("peak_bytes", &T::peak_bytes, "Peak allocated on one GPU without a fault.");
    visit("peak_after_faults_bytes", &T::peak_after_faults_bytes,
          "Largest peak of the runs that continued.");
    visit("repeated_calls", &T::repeated_calls, "Extra requests made by recovered runs, in total.");
    visit("waived", &T::waived);
    visit("untested", &T::untested,
          "Faults that were not injected, since the sweep was interrupted.");
    visit("not_tried", &T::not_tried,
          "Failures of one call, in either form, that no shard was assigned.");
    visit("beyond_budget", &T::beyond_budget,
          "Of these, those that points = spread leaves out because of what they cost.");
    visit("points", &T::points, "Points, in the order in which they are first passed.");
    visit("failed", &T::failed, "Faults whose verdict is not good, in the order of the calls.");
    visit("notes", &T::notes, Presence::optional,
          "Deviations of recoveries from the fault-free run that are not verdicts.");
    visit("error", &brief_error, "Null if the variant was swept.");
  }
};

inline bool is_waived(const FailedFault& failed) { return !failed.waived.empty(); }

/// It does not fail the sweep.
inline bool is_excused(const FailedFault& failed) {
  return is_waived(failed) || !failed.interpreter.empty();
}

/// Swept to the end, and every verdict that is not good is excused.
inline bool is_clean(const SweptVariant& variant) {
  return !variant.error && variant.untested == 0 &&
         std::all_of(variant.failed.begin(), variant.failed.end(), is_excused);
}

struct SweptScenario {
  std::string name;
  std::string file;
  std::optional<ErrorResult> error;  ///< why it could not be loaded
  std::vector<SweptVariant> variants;

  static std::optional<BriefError> brief_error(const SweptScenario& of) { return brief(of.error); }

  static constexpr const char* kSchemaName = "scenario";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = SweptScenario;
    visit("name", &T::name);
    visit("file", &T::file);
    visit("error", &T::error, kUnwritten);
    visit("variants", &T::variants);
    visit("error", &brief_error, "Null if the scenario was loaded.");
  }
};

inline bool is_clean(const SweptScenario& scenario) {
  return !scenario.error &&
         std::all_of(scenario.variants.begin(), scenario.variants.end(),
                     [](const SweptVariant& variant) { return is_clean(variant); });
}

struct SweepResult {
  ExitReason exit_reason = ExitReason::passed;
  std::optional<ShardResult> shard;  ///< absent: all of the sweep
  std::string points;                ///< as asked for: "spread", "all", "sample=100"
  std::string form;                  ///< "transient", "persistent", "both"
  std::string level;                 ///< "request", …
  bool host = false;                 ///< host memory's requests too
  std::int64_t depth = 1;            ///< faults in a chain
  std::vector<SweptScenario> scenarios;

  static constexpr const char* kSchemaName = "sweep";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = SweepResult;
    visit("exit_reason", &T::exit_reason);
    visit("shard", &T::shard, Presence::optional,
          "Which part of the faults was injected (--shard); absent when all were.");
    visit("points", &T::points, "Which calls failed: spread, unique, all, sample=N.");
    visit("form", &T::form, "transient, persistent or both.");
    visit("level", &T::level,
          "request, segment, map, pinned, workspace or collective; call: of CUDA, or ranks.");
    visit("host", &T::host, "Requests for host memory failed too.");
    visit("depth", &T::depth, "Number of faults in a chain.");
    visit("scenarios", &T::scenarios);
  }
};

}  // namespace ohm
