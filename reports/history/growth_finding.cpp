#include "reports/history/growth_finding.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <string>
#include <unordered_map>
#include <vector>

#include "reports/history/function_loop.h"
#include "reports/text/library_file.h"
#include "reports/text/measured_text.h"

namespace ohm::reports {

namespace {

/// By what the ends of the steps after the second have more, in ascending order.
std::vector<std::int64_t> growths_of(const SteppedDevice& device) {
  std::vector<std::int64_t> growths;
  for (std::size_t i = 2; i <= device.last(); ++i) {
    growths.push_back(device.bytes_at_end(i) - device.bytes_at_end(i - 1));
  }
  std::sort(growths.begin(), growths.end());
  return growths;
}

/// The middle one; 0 where one step does not grow.
std::int64_t steady_growth(const std::vector<std::int64_t>& growths) {
  return growths.front() <= 0 ? 0 : growths[growths.size() / 2];
}

/// "1.00 MiB in each of 8", or of steps that differ "1.00 MiB to 6.00 MiB in each of 8".
std::string in_each_text(std::int64_t least, std::int64_t most, std::size_t steps) {
  const std::string from = short_bytes(least);
  const std::string to = short_bytes(most);
  return fmt::format("{}{} in each of {}", from, from == to ? "" : " to " + to, steps);
}

/// Of a site: whether its largest request of each step is larger than that of the step before.
class LargestOfSteps {
 public:
  /// Steps in ascending order, from the second on.
  void add(std::size_t step, std::uint64_t bytes) {
    if (step == step_) {
      bytes_ = std::max(bytes_, bytes);
      return;
    }
    end_step(step);
    step_ = step;
    bytes_ = bytes;
  }

  bool grows_until(std::size_t last) {
    constexpr std::uint64_t kLeastBytes = 4096;
    if (step_ != last || bytes_ < kLeastBytes) return false;
    end_step(last + 1);
    return grows_;
  }

 private:
  void end_step(std::size_t next) {
    // The first one that counts is the second step.
    grows_ = grows_ && next == step_ + 1 && (step_ == 0 || bytes_ > before_);
    before_ = bytes_;
  }

  std::size_t step_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t before_ = 0;
  bool grows_ = true;
};

/// Whether some line asks for more in every step than in the one before: a sequence that gets
/// longer, of which the cache grows as it should.
bool asks_for_more_each_step(const SteppedDevice& device) {
  std::unordered_map<std::uint32_t, LargestOfSteps> sites;
  for (const HistoryBlock& block : device.blocks()) {
    const std::size_t step = device.step_of(block.begin);
    if (step >= 1 && step <= device.last()) sites[block.site].add(step, block.bytes);
  }
  return std::any_of(sites.begin(), sites.end(),
                     [&](auto& site) { return site.second.grows_until(device.last()); });
}

/// What steps behind the second have made, and is there at the end.
struct LeftBehind {
  FindingPlaces places;
  std::vector<std::int64_t> bytes;  ///< of each step, the last one left out
  std::int64_t freed_bytes = 0;     ///< of it, before the record ends
  std::int64_t trained_bytes = 0;   ///< of it: of parameters, their gradients and states
  std::map<std::uint64_t, std::int64_t> parameters;  ///< number of each size
  std::uint32_t first_free = UINT32_MAX;
  std::uint32_t last_free = 0;
  std::int64_t least() const { return *std::min_element(bytes.begin(), bytes.end()); }
  std::int64_t most() const { return *std::max_element(bytes.begin(), bytes.end()); }
  std::int64_t all() const { return std::accumulate(bytes.begin(), bytes.end(), std::int64_t{0}); }
  std::int64_t average() const { return all() / static_cast<std::int64_t>(bytes.size()); }
};

bool is_of_training(Category category) {
  return category == Category::parameter || category == Category::gradient ||
         category == Category::optimizer_state;
}

LeftBehind left_behind(const SteppedDevice& device) {
  const std::size_t last = device.last();
  LeftBehind left;
  left.bytes.resize(last - 2);
  for (const HistoryBlock& block : device.blocks()) {
    const std::size_t step = device.step_of(block.begin);
    if (step < 2 || step >= last || !is_alive(block, device.steps()[last])) continue;
    left.places.add(block);
    left.bytes[step - 2] += static_cast<std::int64_t>(block.bytes);
    if (is_of_training(block.category))
      left.trained_bytes += static_cast<std::int64_t>(block.bytes);
    if (block.category == Category::parameter) ++left.parameters[block.bytes];
    if (block.end >= device.history().events) continue;
    left.freed_bytes += static_cast<std::int64_t>(block.bytes);
    left.first_free = std::min(left.first_free, block.end);
    left.last_free = std::max(left.last_free, block.end);
  }
  return left;
}

/// Whether most of it goes while gradients are made.
bool goes_in_backward(const SteppedDevice& device, const LeftBehind& left) {
  if (2 * left.freed_bytes < left.all()) return false;
  return std::any_of(device.blocks().begin(), device.blocks().end(), [&](const HistoryBlock& one) {
    return one.category == Category::gradient && left.first_free < one.begin &&
           one.begin < left.last_free;
  });
}

/// Whether something of the category is made behind the first step.
bool makes(const SteppedDevice& device, Category category) {
  const std::uint32_t begin = device.steps().front();
  const std::uint32_t end = device.steps()[device.last()];
  return std::any_of(device.blocks().begin(), device.blocks().end(), [&](const HistoryBlock& one) {
    return one.category == category && begin < one.begin && one.begin <= end;
  });
}

bool trains(const SteppedDevice& device) {
  return makes(device, Category::gradient) || makes(device, Category::optimizer_state);
}

/// Whether some of it was made by a layer of PyTorch's, and none in a model that is more.
bool is_of_layers_alone(const SteppedDevice& device, const LeftBehind& left) {
  const MemoryHistory& history = device.history();
  bool has_layer = false;
  for (const std::uint32_t site : left.places.sites()) {
    for (std::uint32_t call = history.sites[site].call; call != 0;
         call = history.calls[call - 1].caller) {
      const HistoryLine& line = history.lines[history.calls[call - 1].line];
      if (line.function != "forward") continue;
      if (!is_pytorch_file(line.file) || line.file.ends_with("container.py")) return false;
      has_layer = true;
    }
  }
  return has_layer;
}

/// Batches differ, and what the end of a step holds goes up and down with them: then each of
/// several steps has to leave something behind, most of them much, and all of it has to be what
/// there is more.
bool grows_unevenly(const SteppedDevice& device, const LeftBehind& left) {
  constexpr std::size_t kFewestSteps = 4;
  constexpr std::int64_t kMostTimes = 8;
  if (left.bytes.size() < kFewestSteps || left.least() == 0) return false;
  std::vector<std::int64_t> bytes = left.bytes;
  const auto quarter = bytes.begin() + static_cast<std::ptrdiff_t>(bytes.size() / 4);
  std::nth_element(bytes.begin(), quarter, bytes.end());
  const std::int64_t more = device.bytes_at_end(device.last()) - device.bytes_at_end(1);
  return kMostTimes * *quarter >= left.average() && 2 * more >= left.all();
}

/// Only some of the steps leave something behind, as every tenth one does of a log; all along: a
/// cache that fills up at first does not grow in each quarter of the steps.
bool grows_now_and_then(const SteppedDevice& device, const LeftBehind& left) {
  constexpr std::size_t kFewestSteps = 24;
  constexpr std::size_t kQuarters = 4;
  const std::size_t steps = left.bytes.size();
  if (steps < kFewestSteps) return false;
  std::array<std::int64_t, kQuarters> quarters{};
  for (std::size_t i = 0; i < steps; ++i) quarters[kQuarters * i / steps] += left.bytes[i];
  const std::int64_t more = device.bytes_at_end(device.last()) - device.bytes_at_end(1);
  const std::int64_t least = *std::min_element(quarters.begin(), quarters.end());
  return least > 0 && 2 * std::int64_t{kQuarters} * least >= left.all() && 2 * more >= left.all();
}

/// "1.00 MiB in 40 of 80".
std::string in_some_text(const LeftBehind& left) {
  const auto growing = static_cast<std::int64_t>(
      std::count_if(left.bytes.begin(), left.bytes.end(), [](auto bytes) { return bytes > 0; }));
  return fmt::format("{} in {} of {}", short_bytes(left.all() / growing), growing,
                     left.bytes.size());
}

/// What the step before the last has made itself, at its fullest.
std::int64_t bytes_of_a_step(const SteppedDevice& device) {
  const std::size_t step = device.last() - 1;
  const std::uint32_t moment = device.fullest_events(step, step).front();
  std::int64_t bytes = 0;
  for (const HistoryBlock& block : device.blocks()) {
    const bool is_own = is_alive(block, moment) && device.step_of(block.begin) == step;
    if (is_own) bytes += static_cast<std::int64_t>(block.bytes);
  }
  return bytes;
}

FindingResult said_of(const SteppedDevice& device, const LeftBehind& left, const std::string& by) {
  const MemoryHistory& history = device.history();
  // The graph of a loss is a good part of what a step has at its fullest.
  const bool may_be_graph =
      left.places.ops(history) > 2 && 4 * left.bytes.back() >= bytes_of_a_step(device);
  const std::size_t lines = left.places.lines(history);
  // Whether the graph of a loss is kept or tensors themselves, a record does not say.
  FindingResult finding = device.finding(
      "growth per step", may_be_graph ? "leaked_loss_graph" : "retained_outputs",
      fmt::format("allocated memory grows by {}, from {} to {}: what {} each time{} is still "
                  "there at the end, as something keeps it{}",
                  by, short_bytes(device.bytes_at_end(1)),
                  short_bytes(device.bytes_at_end(device.last())),
                  lines == 1 ? std::string("one line makes") : fmt::format("{} lines make", lines),
                  left.places.common_caller(history),
                  may_be_graph ? " or the graph that it is part of" : ""),
      left.places);
  finding.summary = "grows by " + by;
  return finding;
}

/// Whether it is a model that gets larger: all parameters that came later have gradients in the
/// last step. Those of earlier models that are kept have none.
bool is_growing_model(const SteppedDevice& device, const LeftBehind& left) {
  if (left.parameters.empty() || 10 * left.trained_bytes < 9 * left.all()) return false;
  std::map<std::uint64_t, std::int64_t> gradients;
  for (const HistoryBlock& block : device.blocks()) {
    const bool is_of_last_step = device.step_of(block.begin) == device.last();
    if (block.category == Category::gradient && is_of_last_step) ++gradients[block.bytes];
  }
  return std::all_of(left.parameters.begin(), left.parameters.end(),
                     [&](const auto& one) { return gradients[one.first] >= one.second; });
}

/// Few passes may be of layers, whose results wait for a backward pass.
bool may_wait_for_backward(const SteppedDevice& device, const LeftBehind& left) {
  const bool may_be_layers = !trains(device) && device.last() < kMoreThanLayers;
  return goes_in_backward(device, left) || (may_be_layers && is_of_layers_alone(device, left));
}

std::optional<FindingResult> finding_of(const SteppedDevice& device, const LeftBehind& left,
                                        std::string_view steps) {
  const std::vector<std::int64_t> growths = growths_of(device);
  const std::int64_t growth = steady_growth(growths);
  // What every step leaves behind has to be there.
  const bool is_steady = growth > 0 && 2 * left.least() >= growth;
  const bool is_uneven = !is_steady && grows_unevenly(device, left);
  if (!is_steady && !is_uneven && !grows_now_and_then(device, left)) return std::nullopt;
  // A hundredth of the peak in each step, or slowly a good share of it, is worth a word.
  const std::int64_t peak = device.result().peak_allocated_bytes;
  const bool is_fast = 100 * (is_steady ? growth : left.average()) >= peak;
  if (!is_fast && !is_share(left.all(), peak)) return std::nullopt;
  if (asks_for_more_each_step(device) || is_growing_model(device, left)) return std::nullopt;
  const std::string by = is_steady   ? in_each_text(growths.front(), growths.back(), growths.size())
                         : is_uneven ? in_each_text(left.least(), left.most(), left.bytes.size())
                                     : in_some_text(left);
  return said_of(device, left, fmt::format("{} {}", by, steps));
}

}  // namespace

Growth growth_of(const SteppedDevice& device, std::string_view steps) {
  if (!device.has_steps_to_compare()) return {};
  const LeftBehind left = left_behind(device);
  if (may_wait_for_backward(device, left)) return {true, std::nullopt};
  return {false, finding_of(device, left, steps)};
}

}  // namespace ohm::reports
