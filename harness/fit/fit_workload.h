// A program on one kind of GPU, whose runs tell what fits: a variant of a scenario (fit_row.cpp) or
// a command (command_fit.cpp). The search for the answer is the same for both.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <vector>

#include "allocator_shim/device/gpu_profile.h"
#include "harness/fit/fit_search.h"
#include "reports/model/fit_result.h"

namespace ohm::engine {

/// The program fails for another reason than memory: there is nothing to search.
class RowError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Its functions throw RowError.
class FitWorkload {
 public:
  virtual ~FitWorkload() = default;

  /// Runs it with this value of the parameter that varies, on the GPU as it is.
  virtual Probe at_value(std::int64_t value) = 0;
  /// Runs it on a GPU with so many bytes.
  virtual Probe at_capacity(std::int64_t bytes) = 0;
  /// What it takes where nothing is scarce, with this value where one varies; nullopt where even a
  /// large GPU is too small.
  virtual std::optional<FitPoint> on_large_gpu(std::int64_t value) = 0;
  /// Whether it would fit into so many bytes for segments, as far as one can tell without a run.
  virtual std::optional<bool> forecast(std::int64_t value, std::int64_t available_bytes) const = 0;
  /// Whether forecasts tell of a GPU's capacity, too.
  virtual bool forecasts_capacity() const = 0;

  /// Runs take so little time that more of them are made around an answer, to see whether all
  /// smaller values fit and no larger one does.
  virtual bool has_cheap_runs() const = 0;
  /// What other GPUs said about it, to begin with.
  virtual std::vector<FitPoint> known_elsewhere() const = 0;
  /// Values that were run before on this kind of GPU.
  virtual std::vector<std::int64_t> known_here() const { return {}; }

  /// Of the run that fitted with this value, or on so many bytes.
  virtual std::int64_t workspace_bytes(std::int64_t value) const = 0;
};

/// What is searched.
struct RowQuestion {
  bool is_of_capacity = false;  ///< the smallest GPU; else the largest value on this one
  std::int64_t least = 1;       ///< of the value
  std::int64_t most = 1;
  std::int64_t capacity_bytes = 0;
  std::int64_t context_bytes = 0;
  bool considers_limits = false;
  std::optional<std::int64_t> within_limits_elsewhere;  ///< on another GPU
};

/// Fills `row` but for what the program tells of itself; a RowError becomes the row's.
void search_row(FitWorkload& workload, const RowQuestion& question, FitRow& row);

}  // namespace ohm::engine
