// The result of ohm fit: plain data, from which all that is printed is made.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reports/model/exit_code.h"
#include "reports/model/run_result.h"

namespace ohm {

/// A value that was tried and fitted, with the figures of its run: the largest of the GPUs.
struct FitPoint {
  std::int64_t value = 0;
  std::int64_t peak_allocated_bytes = 0;
  std::int64_t peak_reserved_bytes = 0;
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
};

enum class FitStopKind : std::uint8_t { out_of_memory, limit, error };

/// Why a value does not fit.
struct FitStop {
  std::int64_t value = 0;
  FitStopKind kind = FitStopKind::out_of_memory;
  std::string reason;                ///< one line
  std::optional<LimitResult> limit;  ///< of kind limit: the first one that breaks
};

/// What the verdict on the largest value stands on.
struct FitMargin {
  std::int64_t capacity_bytes = 0;
  std::int64_t context_bytes = 0;    ///< modelled: of the process, outside the allocator
  std::int64_t workspace_bytes = 0;  ///< modelled: of libraries, part of the peak
  std::int64_t left_bytes = 0;       ///< capacity less context less peak_reserved_bytes
};

enum class FitOutcome : std::uint8_t { found, none_fits, all_fit, failed };

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
  std::optional<std::int64_t> needed_bytes;  ///< of none_fits: what the smallest value would take
  std::vector<std::int64_t> fits_beyond;     ///< larger values that do fit: not monotone
  std::vector<std::int64_t> fails_within;    ///< smaller values that do not: not monotone
  std::vector<std::string> unchecked;        ///< limits that size-only runs cannot tell
  std::vector<std::string> modelled;         ///< assumptions that the bytes of `best` rest on
  std::string smallest_profile;  ///< of capacity: the smallest card of the table that will do
  std::int64_t smallest_profile_bytes = 0;
  std::int64_t runs = 0;
};

struct FitResult {
  std::string name;
  std::string summary;
  std::string file;
  std::string varied;  ///< name of the parameter, or kFitCapacity
  std::int64_t least = 0;
  std::int64_t most = 0;
  bool considers_limits = true;
  std::string rules;
  std::string alloc_conf;
  std::vector<FitRow> rows;  ///< by variant, then by GPU
  std::optional<ErrorResult> error;
  ExitReason exit_reason = ExitReason::passed;
};

/// What can be varied besides a scenario's parameters: the memory of the card, in bytes.
inline constexpr const char* kFitCapacity = "capacity";

}  // namespace ohm
