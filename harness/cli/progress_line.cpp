#include "harness/cli/progress_line.h"

#include <fmt/format.h>

#include <cstdio>

namespace ohm::cli {

void ProgressLine::show(std::size_t finished, std::size_t total) {
  if (!is_shown_) return;
  fmt::print(stderr, "\r\x1b[K[{}/{}] running", finished, total);
  std::fflush(stderr);
  is_drawn_ = true;
}

void ProgressLine::erase() {
  if (!is_drawn_) return;
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
  is_drawn_ = false;
}

}  // namespace ohm::cli
