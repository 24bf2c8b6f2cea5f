#include "harness/cli/progress_line.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>

#include "harness/cli/terminal.h"

namespace ohm::cli {

namespace {

std::string rate_text(double rate) {
  if (rate >= 10) return fmt::format("{:.0f} a second", rate);
  if (rate >= 0.5) return fmt::format("{:.1f} a second", rate);
  return fmt::format("{:.1f} a minute", rate * 60);
}

std::string time_text(double seconds) {
  const auto whole = static_cast<long long>(std::ceil(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

}  // namespace

std::string progress_text(std::size_t finished, std::size_t total, double seconds) {
  std::string text =
      total == 0 ? fmt::format("[{}]", finished) : fmt::format("[{}/{}]", finished, total);
  const bool can_tell = finished > 0 && seconds > 0;
  if (!can_tell) return text + " running";
  const double rate = static_cast<double>(finished) / seconds;
  text += " " + rate_text(rate);
  if (total <= finished) return text;
  return text + fmt::format(", {} left", time_text(static_cast<double>(total - finished) / rate));
}

void ProgressLine::show(std::size_t finished, std::size_t total) {
  if (!is_shown_) return;
  write_stderr(fmt::format("\r\x1b[K{}", progress_text(finished, total, stopwatch_.seconds())));
  std::fflush(stderr);
  is_drawn_ = true;
}

void ProgressLine::erase() {
  if (!is_drawn_) return;
  write_stderr("\r\x1b[K");
  std::fflush(stderr);
  is_drawn_ = false;
}

}  // namespace ohm::cli
