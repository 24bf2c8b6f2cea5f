// The GPUs of running variants, redrawn while they run.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "harness/process/live_board.h"

namespace ohm::cli {

/// "good.kept  cuda:0 ▁▂▃▄▅▆▇█  45.20 MiB, peak 61.33 MiB of 64.00 MiB": a line for each GPU, none
/// longer than `columns`.
std::string live_text(std::span<const engine::LiveVariant> variants, std::size_t columns);

/// Draws on stderr; erases itself when it ends. Only where lines can be drawn over.
class LiveView {
 public:
  explicit LiveView(const engine::LiveBoard& board) : board_(board) {}
  ~LiveView() { erase(); }
  LiveView(const LiveView&) = delete;
  LiveView& operator=(const LiveView&) = delete;

  void show(std::size_t finished, std::size_t total);
  /// Before anything else is printed.
  void erase();

 private:
  const engine::LiveBoard& board_;
  std::size_t drawn_lines_ = 0;
};

}  // namespace ohm::cli
