// "[17/38] 4.2 a second, 5 s left" on stderr while people wait.
#pragma once

#include <cstddef>
#include <string>

#include "harness/process/stopwatch.h"

namespace ohm::cli {

/// What the line says after so many seconds: counts, and as soon as they can be told the rate and
/// the time that is left. A total of 0 is not known.
std::string progress_text(std::size_t finished, std::size_t total, double seconds);

/// Draws only where it can be drawn over; erases itself when it ends.
class ProgressLine {
 public:
  explicit ProgressLine(bool is_shown) : is_shown_(is_shown) {}
  ~ProgressLine() { erase(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(std::size_t finished, std::size_t total);
  /// Before anything else is printed.
  void erase();

 private:
  bool is_shown_;
  bool is_drawn_ = false;
  engine::Stopwatch stopwatch_;
};

}  // namespace ohm::cli
