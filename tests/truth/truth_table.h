// The truth table of a CUDA device: what it computes, beside what the host computes in float64.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "runtime/base/dtype.h"

namespace ohm::truth {

/// Two elements agree when they differ by at most absolute + relative × the host's.
struct Tolerance {
  double relative = 0;
  double absolute = 0;
};

/// NaN agrees with NaN, an infinity with itself.
bool is_close(double device, double host, const Tolerance& tolerance);

/// One comparison.
struct Row {
  std::string name;  ///< "mm float16 m=1 n=257 k=64"
  std::size_t values = 0;
  std::size_t different = 0;
  double largest_error = 0;  ///< |device − host| / (|host| + 1), of the finite ones
  /// Why it was not run; empty: it was.
  std::string not_run;
  /// Whether no program could have run it here: the memory at hand is too small.
  bool cannot_run = false;

  void compare(double device, double host, const Tolerance& tolerance);
};

/// What a table comes to, and what `card_truth` ends with.
struct Verdict {
  std::size_t same = 0;
  std::size_t differ = 0;
  std::size_t not_run = 0;     ///< that could have been
  std::size_t cannot_run = 0;  ///< listed with the reason; no failure
};

Verdict verdict_of(const std::vector<Row>& rows);

/// A line for each row: "same     relu float32: 24 values, by up to 1.2e-07".
std::string text_of(const std::vector<Row>& rows);

}  // namespace ohm::truth
