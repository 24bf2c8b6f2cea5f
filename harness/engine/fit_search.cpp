#include "harness/engine/fit_search.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace ohm::engine {

namespace {

/// Where the line of a figure through the two largest values that fit meets the memory that there
/// is.
std::optional<std::int64_t> crossing(const Probes& probes, const FitRange& range,
                                     std::int64_t FitPoint::*figure) {
  std::vector<FitPoint> points;
  for (const auto& [value, probe] : probes.all()) {
    if (probe.point) points.push_back(*probe.point);
  }
  if (points.size() < 2) points = range.known_elsewhere;
  if (points.size() < 2) return std::nullopt;
  const FitPoint& a = points[points.size() - 2];
  const FitPoint& b = points.back();
  const auto rise = static_cast<double>(b.*figure - a.*figure);
  const auto left = static_cast<double>(range.available_bytes - b.*figure);
  if (rise <= 0) return std::nullopt;
  const double guess = static_cast<double>(b.value) +
                       std::floor(left * static_cast<double>(b.value - a.value) / rise);
  return std::llround(
      std::clamp(guess, static_cast<double>(range.least), static_cast<double>(range.most)));
}

/// A program fits at once where all that it ever reserves does, and never where what it allocates
/// does not: between the two the cache decides.
std::vector<std::int64_t> guesses(const Probes& probes, const FitRange& range) {
  std::vector<std::int64_t> values;
  if (const auto sure = crossing(probes, range, &FitPoint::peak_reserved_bytes)) {
    values.push_back(*sure);
  }
  if (const auto most = crossing(probes, range, &FitPoint::peak_allocated_bytes)) {
    values.push_back(*most + 1);
  }
  return values;
}

/// Values below the answer that bend a line, and those above that only a program which is not
/// monotone fits. Fewer where other cards were looked at.
void look_around(Probes& probes, std::int64_t largest, const FitRange& range) {
  std::vector<std::int64_t> values = {largest - 1, largest + 2, largest + 3};
  const auto round = [](std::int64_t value) { return value >= 64 ? value / 32 * 32 : value; };
  // Of round numbers the blocks are exact: no rounding to multiples of 512 bytes.
  values.push_back(round(largest / 2));
  if (range.known_elsewhere.empty()) {
    values.insert(values.end(), {round(largest * 3 / 4), round(largest / 4), largest + 4});
    for (const std::int64_t eighths : {9, 10, 12, 16}) values.push_back(largest * eighths / 8);
  }
  for (const std::int64_t value : values) {
    if (value > range.least && value < range.most) probes.at(value);
  }
}

}  // namespace

const Probe& Probes::at(std::int64_t value) {
  const auto known = known_.find(value);
  if (known != known_.end()) return known->second;
  return known_.emplace(value, ask_(value)).first->second;
}

std::optional<std::int64_t> largest_that_fits(Probes& probes, const FitRange& range, FitRule rule) {
  if (!probes.fits(range.least, rule)) return std::nullopt;
  std::int64_t fits = range.least;
  std::int64_t fails = range.most;
  const auto try_value = [&](std::int64_t value) {
    if (value > fits && value < fails) (probes.fits(value, rule) ? fits : fails) = value;
  };
  if (probes.fits(range.most, rule)) return range.most;
  if (range.guess) {
    try_value(*range.guess);
    try_value(*range.guess + 1);
  }
  // Limits are no line: halving finds them.
  bool is_guessing = rule == FitRule::on_the_card;
  while (fails - fits > 1) {
    const std::int64_t width = fails - fits;
    if (is_guessing) {
      // Ranges are wide (1..65536) and what fits is often small: doubling finds its magnitude.
      std::vector<std::int64_t> values = guesses(probes, range);
      if (values.empty()) values = {2 * std::max<std::int64_t>(fits, 1)};
      for (const std::int64_t value : values) try_value(std::clamp(value, fits + 1, fails - 1));
    } else {
      try_value(fits + width / 2);
    }
    is_guessing = rule == FitRule::on_the_card && (fails - fits <= width / 4 || !is_guessing);
  }
  return fits;
}

std::optional<std::int64_t> safely_fits(Probes& probes, const FitRange& asked) {
  FitRange range = asked;
  while (true) {
    const std::optional<std::int64_t> largest =
        largest_that_fits(probes, range, FitRule::on_the_card);
    if (!largest) return std::nullopt;
    look_around(probes, *largest, asked);
    const auto lowest_failure = std::find_if(probes.all().begin(), probes.all().end(),
                                             [](const auto& known) { return !known.second.point; });
    if (lowest_failure == probes.all().end() || lowest_failure->first > *largest) return largest;
    range.most = lowest_failure->first;
  }
}

std::optional<FitLine> line_through(const Probes& probes, std::int64_t largest) {
  std::vector<FitPoint> points;  // the largest value first
  for (const auto& [value, probe] : probes.all()) {
    if (probe.point && value <= largest) points.insert(points.begin(), *probe.point);
  }
  if (points.size() < 2) return std::nullopt;
  // The peak is the largest of several moments, each a line in the value, so it can only bend
  // upwards: the line that counts is the one at the largest values. Its ends are as far apart as
  // the points allow that lie on one line.
  constexpr double kRoundingShare = 0.005;
  const FitPoint& last = points.front();
  FitLine best;
  for (std::size_t end = points.size() - 1; end >= 1; --end) {
    FitLine line;
    const FitPoint& first = points[end];
    // A stretch of the last few values is no line of the program's.
    if (best.checked_values > 0 && first.value > last.value / 4 * 3) break;
    line.bytes_per_unit =
        static_cast<double>(last.peak_allocated_bytes - first.peak_allocated_bytes) /
        static_cast<double>(last.value - first.value);
    line.fixed_bytes = static_cast<double>(last.peak_allocated_bytes) -
                       line.bytes_per_unit * static_cast<double>(last.value);
    line.from_value = first.value;
    line.checked_values = static_cast<std::int64_t>(end) + 1;
    double largest_deviation = 0;
    for (std::size_t i = 0; i <= end; ++i) {
      const double expected =
          line.fixed_bytes + line.bytes_per_unit * static_cast<double>(points[i].value);
      largest_deviation =
          std::max(largest_deviation,
                   std::abs(static_cast<double>(points[i].peak_allocated_bytes) - expected));
    }
    line.largest_deviation_bytes = std::llround(largest_deviation);
    line.is_line =
        line.checked_values >= 3 &&
        largest_deviation <= kRoundingShare * static_cast<double>(last.peak_allocated_bytes -
                                                                  first.peak_allocated_bytes);
    if (best.checked_values == 0) best = line;
    if (line.is_line) return line;
  }
  return best;
}

}  // namespace ohm::engine
