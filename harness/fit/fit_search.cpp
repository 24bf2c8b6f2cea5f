#include "harness/fit/fit_search.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>

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

/// The largest value between the two that the forecast says fits, `fits` where it says that of
/// none; nullopt: there is no forecast.
std::optional<std::int64_t> foreseen(const FitRange& range, std::int64_t fits, std::int64_t fails) {
  while (fails - fits > 1) {
    const std::int64_t middle = fits + (fails - fits) / 2;
    const std::optional<bool> would_fit = range.forecast_of(middle);
    if (!would_fit) return std::nullopt;
    (*would_fit ? fits : fails) = middle;
  }
  return fits;
}

/// Values below the answer that bend a line, and those above that only a program which is not
/// monotone fits. Fewer where other GPUs were looked at, and where the forecast sees nothing odd.
void look_around(Probes& probes, std::int64_t largest, const FitRange& range) {
  const auto round = [](std::int64_t value) { return value >= 64 ? value / 32 * 32 : value; };
  // Of round numbers the blocks are exact: no rounding to multiples of 512 bytes.
  std::vector<std::int64_t> on_the_line = {round(largest / 2), round(largest * 3 / 4)};
  std::vector<std::int64_t> around = {largest - 1, largest + 2, largest + 3};
  if (range.known_elsewhere.empty()) {
    on_the_line.push_back(round(largest / 4));
    around.push_back(largest + 4);
    for (const std::int64_t eighths : {9, 10, 12, 16}) around.push_back(largest * eighths / 8);
  }
  const auto is_inside = [&](std::int64_t value) {
    return value > range.least && value < range.most;
  };
  for (const std::int64_t value : on_the_line) {
    if (is_inside(value)) probes.at(value);
  }
  for (const std::int64_t value : around) {
    if (is_inside(value) && range.forecast_of(value) != (value <= largest)) probes.at(value);
  }
}

}  // namespace

const Probe& Probes::at(std::int64_t value) {
  const auto known = known_.find(value);
  if (known != known_.end()) return known->second;
  return known_.emplace(value, ask_(value)).first->second;
}

namespace {

class LargestSearch {
 public:
  LargestSearch(Probes& probes, const FitRange& range, FitRule rule)
      : probes_(probes),
        range_(range),
        rule_(rule),
        fits_(range.least - 1),
        fails_(range.most + 1) {}

  std::optional<std::int64_t> run() {
    const bool has_forecast = range_.forecast_of(range_.most).has_value();
    if (!has_forecast) try_value(range_.least);
    if (!has_forecast || rule_ == FitRule::within_limits) try_value(range_.most);
    if (rule_ == FitRule::within_limits) {
      try_around(limit_guess());
      try_around(range_.guess);
    } else {
      follow_forecast();
      // It may have come to nothing: it was of another GPU.
      if (!range_.forecast_of(range_.most)) try_value(range_.most);
    }
    // What a limit is about may be no line at all: halving finds its end.
    bool is_guessing = may_guess();
    while (width() > 1) {
      const std::int64_t before = width();
      if (!is_guessing) {
        try_value(fits_ + before / 2);
      } else {
        guess();
        follow_forecast();
      }
      is_guessing = may_guess() && (width() <= before / 4 || !is_guessing);
    }
    if (fits_ < range_.least) return std::nullopt;
    return fits_;
  }

 private:
  /// After these only runs are believed.
  static constexpr int kMostBrokenPromises = 2;

  std::int64_t width() const { return fails_ - fits_; }
  bool may_guess() const {
    return rule_ == FitRule::on_the_gpu && broken_promises_ < kMostBrokenPromises;
  }

  void try_value(std::int64_t value) {
    if (value > fits_ && value < fails_) (probes_.fits(value, rule_) ? fits_ : fails_) = value;
  }
  void try_both(std::int64_t value) {
    try_value(value);
    try_value(value + 1);
  }

  /// And farther and farther away from it, until the end of what fits lies between two of them.
  void try_around(std::optional<std::int64_t> guess) {
    if (!guess || *guess < range_.least || *guess > range_.most) return;
    try_both(*guess);
    std::int64_t before = 0;
    for (std::int64_t away = 2; width() > 1 && width() != before; away *= 2) {
      before = width();
      if (fits_ > *guess) try_value(*guess + 1 + away);
      if (fails_ <= *guess) try_value(*guess - away);
    }
  }

  /// Where a limit stops being broken, if what it measures is a line in the value.
  std::optional<std::int64_t> limit_guess() const {
    struct Excess {
      std::int64_t value = 0;
      double amount = 0;
    };
    std::vector<Excess> known;
    std::string limit;
    for (const auto& [value, probe] : probes_.all()) {
      if (!probe.broken || !probe.broken->limit) continue;
      const LimitResult& broken = *probe.broken->limit;
      if (!broken.measured || !broken.bound) continue;
      if (known.empty()) limit = broken.limit;
      if (broken.limit == limit) known.push_back({value, *broken.measured - *broken.bound});
    }
    if (known.size() < 2) return std::nullopt;
    // Far apart: blocks are rounded up.
    const Excess& least = known.front();
    const Excess& most = known.back();
    const double rise =
        (most.amount - least.amount) / static_cast<double>(most.value - least.value);
    if (rise <= 0 || least.amount < 0) return std::nullopt;
    const double guess = static_cast<double>(least.value) - std::ceil(least.amount / rise);
    return guess < static_cast<double>(range_.least) ? range_.least : std::llround(guess);
  }

  /// What a run says about a value makes the next forecast a better one, but for programs that are
  /// no line, one that pads its batches, say.
  void follow_forecast() {
    constexpr int kMostForecasts = 6;
    while (width() > 1 && forecasts_ < kMostForecasts && broken_promises_ < kMostBrokenPromises) {
      const std::optional<std::int64_t> end = foreseen(range_, fits_, fails_);
      if (!end) return;
      try_both(*end);
      ++forecasts_;
      if (fails_ <= *end) ++broken_promises_;
    }
  }

  void guess() {
    // Ranges are wide (1..65536) and what fits is often small: doubling finds its magnitude.
    std::vector<std::int64_t> values = guesses(probes_, range_);
    if (values.empty()) values = {2 * std::max<std::int64_t>(fits_, 1)};
    for (const std::int64_t value : values) {
      if (width() > 1) try_value(std::clamp(value, fits_ + 1, fails_ - 1));
    }
  }

  Probes& probes_;
  const FitRange& range_;
  FitRule rule_;
  std::int64_t fits_;   ///< the largest value that is known to
  std::int64_t fails_;  ///< the smallest above it that is known not to
  int forecasts_ = 0;
  int broken_promises_ = 0;  ///< values that were foreseen to fit, and do not
};

}  // namespace

std::optional<std::int64_t> largest_that_fits(Probes& probes, const FitRange& range, FitRule rule) {
  return LargestSearch(probes, range, rule).run();
}

std::optional<std::int64_t> safely_fits(Probes& probes, const FitRange& asked) {
  FitRange range = asked;
  while (true) {
    const std::optional<std::int64_t> largest =
        largest_that_fits(probes, range, FitRule::on_the_gpu);
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
    // A stretch of the last few values is not a line of the program's.
    if (best.checked_values > 0 && first.value > last.value * 3 / 4) break;
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
