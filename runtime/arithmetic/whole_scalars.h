// Integers that a program gives as numbers where ops take doubles: those beyond 2^53 are rounded on
// their way, and int64 tensors hold them exactly.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/base/dtype.h"

namespace ohm {

/// Whether a double holds `whole` as it is.
bool is_held_by_a_double(std::int64_t whole);

/// The integers of one call of an op, in the order of its arguments, while it runs on this thread;
/// the calls that it runs within are put aside until it ends.
class WholeScalars {
 public:
  WholeScalars();
  WholeScalars(const WholeScalars&) = delete;
  WholeScalars& operator=(const WholeScalars&) = delete;
  ~WholeScalars();

  /// Notes an argument of the innermost call of this thread, if there is one.
  static void note(std::int64_t whole);

 private:
  friend std::optional<std::int64_t> whole_scalar(double rounded, DType dtype);
  friend std::optional<std::int64_t> last_whole_scalar(double rounded, DType dtype);

  std::vector<std::int64_t> given_;  ///< that are beyond 2^53
  WholeScalars* outer_;
};

/// What `rounded` was before: the first of the running call's integers that it is nearest to. None
/// where that is `rounded` itself, and for tensors of another dtype than int64.
std::optional<std::int64_t> whole_scalar(double rounded, DType dtype);

/// The same, the last of them: of an upper bound beside a lower one.
std::optional<std::int64_t> last_whole_scalar(double rounded, DType dtype);

}  // namespace ohm
