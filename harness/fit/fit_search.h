// The search for the value at which a program stops fitting, and the line that its peak follows.
//
// Pure: what a value does is asked of a function.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "reports/model/fit_result.h"

namespace ohm::engine {

/// What running at one value brought.
struct Probe {
  std::optional<FitPoint> point;  ///< where it fits on the GPU
  std::optional<FitStop> stop;    ///< where it does not
  std::optional<FitStop> broken;  ///< with a point: the limit that breaks all the same
};

/// What counts as fitting.
enum class FitRule : std::uint8_t { on_the_gpu, within_limits };

/// Asks for every value once.
class Probes {
 public:
  using Ask = std::function<Probe(std::int64_t value)>;

  explicit Probes(Ask ask) : ask_(std::move(ask)) {}

  const Probe& at(std::int64_t value);
  bool fits(std::int64_t value, FitRule rule) {
    const Probe& probe = at(value);
    return probe.point && (rule == FitRule::on_the_gpu || !probe.broken);
  }
  const std::map<std::int64_t, Probe>& all() const { return known_; }

 private:
  Ask ask_;
  std::map<std::int64_t, Probe> known_;
};

struct FitRange {
  std::int64_t least = 1;
  std::int64_t most = 1;
  /// For segments. Like the rest a guide for the search, not a rule: what counts is what runs say.
  std::int64_t available_bytes = 0;
  std::vector<FitPoint> known_elsewhere;  ///< on a GPU of another kind
  std::optional<std::int64_t> guess;      ///< tried first
  /// Whether a value would fit on the GPU as far as one can tell without running it; nullopt, or
  /// empty: unknown.
  std::function<std::optional<bool>(std::int64_t value)> forecast;

  std::optional<bool> forecast_of(std::int64_t value) const {
    return forecast ? forecast(value) : std::nullopt;
  }
};

/// The largest value of the range that fits, if all values below one fit and all above do not;
/// nullopt when `least` does not. Guesses by the forecast and by the lines through what is known,
/// and halves. The ends of the range are asked for only where there is no forecast.
std::optional<std::int64_t> largest_that_fits(Probes& probes, const FitRange& range, FitRule rule);

/// The same where more is tried around the answer: when a smaller value turns out not to fit, the
/// answer is below that one. What is known to fit beyond the answer is not part of it.
std::optional<std::int64_t> safely_fits(Probes& probes, const FitRange& range);

/// The line through the known points up to `largest`; nullopt with fewer than two.
std::optional<FitLine> line_through(const Probes& probes, std::int64_t largest);

}  // namespace ohm::engine
