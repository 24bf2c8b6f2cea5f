// "[17/38] running" on stderr while people wait.
#pragma once

#include <cstddef>

namespace ohm::cli {

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
};

}  // namespace ohm::cli
