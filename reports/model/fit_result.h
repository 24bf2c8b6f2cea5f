// The result of ohm fit: plain data, from which all that is printed is made.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/model/exit_code.h"
#include "reports/model/fields.h"
#include "reports/model/run_result.h"
#include "reports/model/shard_result.h"
#include "reports/model/unknown_value.h"

namespace ohm {

/// A value that was tried and fitted, with the figures of its run: the largest of the GPUs.
struct FitPoint {
  std::int64_t value = 0;
  std::int64_t peak_allocated_bytes = 0;
  std::int64_t peak_reserved_bytes = 0;

  static constexpr const char* kSchemaName = "point";
  static constexpr const char* kSchemaDescription =
      "A value that fits; for capacity, the bytes of the card. null: none.";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = FitPoint;
    visit("value", &T::value);
    visit("peak_allocated_bytes", &T::peak_allocated_bytes);
    visit("peak_reserved_bytes", &T::peak_reserved_bytes);
  }
};

/// The line that peak_allocated_bytes follows up to the largest value that fits.
struct FitLine {
  double bytes_per_unit = 0;
  double fixed_bytes = 0;
  std::int64_t from_value = 0;  ///< below it another moment of the run is the peak
  std::int64_t checked_values =
      0;  ///< points that the line was compared with, its own two included
  std::int64_t largest_deviation_bytes = 0;  ///< of those points
  bool is_line = false;  ///< false: they are further from it than rounding explains

  static constexpr const char* kSchemaName = "line";
  static constexpr const char* kSchemaDescription =
      "peak_allocated_bytes = fixed_bytes + bytes_per_unit * value.";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = FitLine;
    visit("bytes_per_unit", &T::bytes_per_unit);
    visit("fixed_bytes", &T::fixed_bytes);
    visit("from_value", &T::from_value,
          "Below this value the peak is at another moment of the run.");
    visit("checked_values", &T::checked_values);
    visit("largest_deviation_bytes", &T::largest_deviation_bytes);
    visit("is_line", &T::is_line);
  }
};

enum class FitStopKind : std::uint8_t { out_of_memory, limit, error };

inline constexpr std::array<std::string_view, 3> kFitStopKindNames = {"out_of_memory", "limit",
                                                                      "error"};

constexpr std::string_view name_of(FitStopKind kind) {
  return kFitStopKindNames[static_cast<std::size_t>(kind)];
}
constexpr std::size_t word_count(FitStopKind /*of*/) { return kFitStopKindNames.size(); }

/// Why a value does not fit.
struct FitStop {
  std::int64_t value = 0;
  FitStopKind kind = FitStopKind::out_of_memory;
  std::string reason;                ///< one line
  std::optional<LimitResult> limit;  ///< of kind limit: the first one that breaks

  // A limit's own members stand among those of the stop in JSON: left out without a limit, null
  // where the limit has none.
  using Figure = std::optional<std::optional<double>>;
  static std::string limit_text(const FitStop& of) { return of.limit ? of.limit->limit : ""; }
  static Figure measured(const FitStop& of) {
    return of.limit ? Figure(of.limit->measured) : std::nullopt;
  }
  static Figure bound(const FitStop& of) {
    return of.limit ? Figure(of.limit->bound) : std::nullopt;
  }

  static constexpr const char* kSchemaName = "stop";
  static constexpr const char* kSchemaDescription =
      "Why a value does not fit, or which limit it breaks. null where there is none.";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = FitStop;
    visit("value", &T::value);
    visit("kind", &T::kind);
    visit("reason", &T::reason);
    visit("limit", &T::limit, kUnwritten);
    visit("limit", &limit_text, Presence::optional, "The limit as the scenario writes it.");
    visit("measured", &measured, Presence::optional);
    visit("bound", &bound, Presence::optional);
  }
};

/// How far peaks of comparable jobs were from what real cards measured.
struct FitError {
  double most_percent = 0;  ///< the largest error of the jobs, either way
  std::int64_t jobs = 0;
  std::string comparable;  ///< which jobs: a phrase

  static constexpr const char* kSchemaName = "measured_error";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = FitError;
    visit("most_percent", &T::most_percent, "The largest error of the jobs, either way.");
    visit("jobs", &T::jobs);
    visit("comparable", &T::comparable);
  }
};

/// What the verdict on the largest value stands on.
struct FitMargin {
  std::int64_t capacity_bytes = 0;
  std::int64_t context_bytes = 0;    ///< modelled: of the process, outside the allocator
  std::int64_t workspace_bytes = 0;  ///< modelled: of libraries, part of the peak
  std::int64_t left_bytes = 0;       ///< capacity less context less peak_reserved_bytes
  std::optional<FitError> error;     ///< of comparable jobs; nullopt: none was measured

  static constexpr const char* kSchemaName = "margin";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = FitMargin;
    visit("capacity_bytes", &T::capacity_bytes);
    visit("modelled_context_bytes", &T::context_bytes);
    visit("modelled_workspace_bytes", &T::workspace_bytes, "Part of the peak.");
    visit("left_bytes", &T::left_bytes, "Capacity less context less peak_reserved_bytes.");
    visit("error", &T::error, Presence::optional);
  }
};

/// Between which values the largest that fits lies, as far as what it was predicted from tells.
struct FitBound {
  std::optional<std::int64_t> least;     ///< fits whatever is uncertain; absent: none surely does
  std::optional<std::int64_t> most;      ///< may fit; absent: none may
  std::int64_t least_context_bytes = 0;  ///< of the process, as far as is known
  std::int64_t most_context_bytes = 0;

  static constexpr const char* kSchemaName = "bound";
  static constexpr const char* kSchemaDescription =
      "For a prediction: the largest value that surely fits, and the largest that may. null: "
      "values were run.";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = FitBound;
    visit("least", &T::least);
    visit("most", &T::most);
    visit("least_context_bytes", &T::least_context_bytes,
          "Smallest context of the process, as far as it is known.");
    visit("most_context_bytes", &T::most_context_bytes);
  }
};

/// One recording that a prediction is made from.
struct FitRecording {
  std::string file;
  std::int64_t value = 0;
  std::int64_t requests = 0;         ///< that are compared
  std::int64_t unmatched = 0;        ///< of them: without a counterpart in another recording
  std::int64_t unmatched_bytes = 0;  ///< of those

  static constexpr const char* kSchemaName = "recording";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = FitRecording;
    visit("file", &T::file);
    visit("value", &T::value);
    visit("requests", &T::requests, "Requests compared between recordings.");
    visit("unmatched", &T::unmatched,
          "Compared requests without a counterpart in another recording.");
    visit("unmatched_bytes", &T::unmatched_bytes);
  }
};

/// What one line of the program holds at the predicted peak.
struct FitHolder {
  std::string op;
  std::string file;
  int line = 0;
  std::int64_t blocks = 0;
  std::int64_t bytes = 0;  ///< requested
  double fixed_bytes = 0;
  double bytes_per_unit = 0;
  bool is_line = false;  ///< false: some of its requests are none, and the two figures are 0

  static constexpr const char* kSchemaName = "holder";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = FitHolder;
    visit("op", &T::op);
    visit("file", &T::file);
    visit("line", &T::line);
    visit("blocks", &T::blocks);
    visit("bytes", &T::bytes, "Requested bytes at the value.");
    visit("fixed_bytes", &T::fixed_bytes);
    visit("bytes_per_unit", &T::bytes_per_unit);
    visit("is_line", &T::is_line, "false: the two figures before are 0.");
  }
};

/// What a prediction from recordings rests on.
struct FitBasis {
  std::vector<FitRecording> recordings;  ///< by ascending value
  std::int64_t steps = 0;                ///< that are compared; 0: none are marked
  bool is_cut = false;                   ///< more steps were recorded at some values
  bool has_one_order = true;             ///< of requests and frees, at every value
  std::int64_t constant = 0;             ///< matched requests of one size
  std::int64_t lines = 0;                ///< matched requests that are lines in the value
  std::int64_t curves = 0;               ///< that are parabolas
  std::int64_t irregular = 0;            ///< that are neither
  std::int64_t unchecked = 0;            ///< of lines and curves: through as few sizes as they need
  std::int64_t holders_at = 0;           ///< the value of `holders`
  std::vector<FitHolder> holders;        ///< that grow, the largest first

  static constexpr const char* kSchemaName = "basis";
  static constexpr const char* kSchemaDescription =
      "Of recordings: what the prediction rests on. null where values were run.";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = FitBasis;
    visit("recordings", &T::recordings);
    visit("steps", &T::steps, "Steps compared; 0: none are marked.");
    visit("is_cut", &T::is_cut, "More steps were recorded at some values.");
    visit("has_one_order", &T::has_one_order,
          "Requests and frees come in the same order at every value.");
    visit("constant", &T::constant, "Matched requests of one size.");
    visit("lines", &T::lines, "Matched requests linear in the value.");
    visit("curves", &T::curves, "Matched requests quadratic in the value.");
    visit("irregular", &T::irregular, "Matched requests that fit no curve.");
    visit("unchecked", &T::unchecked,
          "Requests fitted with no spare data point to check the model.");
    visit("holders_at", &T::holders_at, "The value for which holders are listed.");
    visit("holders", &T::holders, "What grows in the predicted peak, largest first.");
  }
};

enum class FitOutcome : std::uint8_t { found, none_fits, all_fit, failed };

inline constexpr std::array<std::string_view, 4> kFitOutcomeNames = {"found", "none_fits",
                                                                     "all_fit", "failed"};

constexpr std::string_view name_of(FitOutcome outcome) {
  return kFitOutcomeNames[static_cast<std::size_t>(outcome)];
}
constexpr std::size_t word_count(FitOutcome /*of*/) { return kFitOutcomeNames.size(); }

/// One variant on one kind of GPU.
struct FitRow {
  std::string variant;
  Role role = Role::problem;
  std::string profile;
  std::int64_t gpu_count = 1;
  FitOutcome outcome = FitOutcome::failed;
  std::string error;             ///< of outcome failed
  std::optional<FitPoint> best;  ///< the largest value that fits; of capacity the smallest
  std::optional<FitStop> stop;   ///< why the next one does not
  /// The largest value for which the scenario's limits hold as well; absent: not asked for, or
  /// none (then `limit_stop` is there).
  std::optional<FitPoint> best_within_limits;
  std::optional<FitStop>
      limit_stop;                ///< which limit the next one breaks; absent: none before `best`
  std::vector<FitPoint> points;  ///< all that fitted, in ascending order
  std::optional<FitLine> line;
  std::optional<FitMargin> margin;
  std::optional<FitBound> bound;             ///< of recordings
  std::optional<std::int64_t> needed_bytes;  ///< of none_fits: what the smallest value would take
  std::vector<std::int64_t> fits_beyond;     ///< larger values that do fit: not monotone
  std::vector<std::int64_t> fails_within;    ///< smaller values that do not: not monotone
  std::vector<std::string> unchecked;        ///< limits that size-only runs cannot tell
  std::vector<std::string> modelled;         ///< assumptions that the bytes of `best` rest on
  std::vector<UnknownValueResult> unknown_values;  ///< of a command: read in any of its runs
  /// Of a command: the share of rows that a mask of unknown values is assumed to select, as
  /// --assume-selected spells it; empty: no mask depended on it.
  std::string assumed_selection;
  std::string smallest_profile;  ///< of capacity: the smallest card of the table that will do
  std::int64_t smallest_profile_bytes = 0;
  std::int64_t runs = 0;

  static constexpr const char* kSchemaName = "row";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = FitRow;
    visit("variant", &T::variant);
    visit("role", &T::role);
    visit("gpu", &T::profile);
    visit("gpu_count", &T::gpu_count);
    visit("outcome", &T::outcome);
    visit("error", &T::error, Presence::optional, "Why the search was not possible.");
    visit("best", &T::best);
    visit("next", &T::stop);
    visit("best_within_limits", &T::best_within_limits);
    visit("next_limit", &T::limit_stop);
    visit("points", &T::points, kUnwritten);
    visit("line", &T::line);
    visit("margin", &T::margin);
    visit("bound", &T::bound, Presence::optional);
    visit("needed_bytes", &T::needed_bytes,
          "If nothing fits: what the smallest value takes, with the context.");
    visit("fits_beyond", &T::fits_beyond,
          "Values above the first failing one that fit nevertheless.");
    visit("fails_within", &T::fails_within, "For capacity: larger cards on which it does not fit.");
    visit("unchecked_limits", &T::unchecked, "Limits on values: size-only runs have none.");
    visit("modelled", &T::modelled, Presence::optional,
          "Assumptions that the bytes rest on; absent: none.");
    visit("unknown_values", &T::unknown_values, Presence::optional,
          "Of a command: lines that read values which no kernel computed, in any of its runs.");
    visit("assumed_selection", &T::assumed_selection, Presence::optional,
          "Of a command: the share of rows that masks of such values are assumed to select; "
          "absent: no mask depended on it.");
    visit("smallest_gpu", &T::smallest_profile, Presence::optional,
          "For capacity: the smallest card of ohm gpus that suffices.");
    visit("smallest_profile_bytes", &T::smallest_profile_bytes, kUnwritten);
    visit("runs", &T::runs);
  }
};

struct FitResult {
  std::string name;
  std::string summary;
  std::string file;         ///< or the command line
  bool is_command = false;  ///< of a command, not of a scenario
  bool has_values = false;  ///< of a command: its kernels were computed
  std::string varied;       ///< name of the parameter, or kFitCapacity
  std::int64_t least = 0;
  std::int64_t most = 0;
  bool considers_limits = true;
  std::string rules;
  std::string alloc_conf;
  std::vector<FitRow> rows;          ///< by variant, then by GPU
  std::optional<FitBasis> basis;     ///< of recordings
  std::optional<ShardResult> shard;  ///< absent: all variants
  std::optional<ErrorResult> error;
  ExitReason exit_reason = ExitReason::passed;

  static std::string message(const FitResult& of) { return of.error ? of.error->message : ""; }

  static constexpr const char* kSchemaName = "fit";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = FitResult;
    visit("scenario", &T::name);
    visit("summary", &T::summary, kUnwritten);
    visit("file", &T::file, "Path as given on the command line, or the whole command.");
    visit("is_command", &T::is_command, kUnwritten);
    visit("has_values", &T::has_values, kUnwritten);
    visit("varied", &T::varied, "A parameter, or \"capacity\".");
    visit("least", &T::least);
    visit("most", &T::most);
    visit("considers_limits", &T::considers_limits, "false: --no-limits.");
    visit("rules", &T::rules, kUnwritten);
    visit("alloc_conf", &T::alloc_conf, kUnwritten);
    visit("rows", &T::rows);
    visit("basis", &T::basis, Presence::optional);
    visit("shard", &T::shard, Presence::optional,
          "Which part of the variants was searched (--shard); absent when all were.");
    visit("error", &T::error, kUnwritten);
    visit("exit_reason", &T::exit_reason);
    visit("error", &message, Presence::optional);
  }
};

/// The setting of a shard that says what shards share out, where that is not the variants.
inline constexpr const char* kFitDealt = "dealt_by";
inline constexpr const char* kFitDealtByGpu = "gpu";

/// What can be varied besides a scenario's parameters: the memory of the card, in bytes.
inline constexpr const char* kFitCapacity = "capacity";

}  // namespace ohm
