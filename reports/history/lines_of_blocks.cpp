#include "reports/history/lines_of_blocks.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "reports/history/stepped_device.h"

namespace ohm::reports {

namespace {

/// The first two steps warm up: gradients, optimizer state, the cache.
constexpr std::size_t kFirstGrowing = 2;

/// Sums by line; the op, and the library's line, are those of the largest part.
class LineSums {
 public:
  void add(const std::string& file, int line, const std::string& op, const std::string& library,
           std::int64_t bytes, std::int64_t count, const std::string& text = {}) {
    Sum& sum = sums_[{file, line}];
    sum.line.file = file;
    sum.line.line = line;
    sum.line.bytes += bytes;
    sum.line.count += count;
    if (sum.line.text.empty()) sum.line.text = text;
    sum.parts[{op, library}] += bytes;
  }

  /// Those that are above 0, the largest first.
  std::vector<CauseLine> largest_first() {
    std::vector<CauseLine> lines;
    for (auto& [place, sum] : sums_) {
      if (sum.line.bytes <= 0) continue;
      const auto largest =
          std::max_element(sum.parts.begin(), sum.parts.end(),
                           [](const auto& a, const auto& b) { return a.second < b.second; });
      std::tie(sum.line.op, sum.line.library) = largest->first;
      lines.push_back(std::move(sum.line));
    }
    std::stable_sort(lines.begin(), lines.end(),
                     [](const CauseLine& a, const CauseLine& b) { return a.bytes > b.bytes; });
    return lines;
  }

 private:
  struct Sum {
    CauseLine line;
    std::map<std::pair<std::string, std::string>, std::int64_t> parts;  ///< by op and library
  };
  std::map<std::pair<std::string, int>, Sum> sums_;
};

/// By site first: blocks are many.
class SiteSums {
 public:
  void add(const HistoryBlock& block, int sign) {
    auto& [bytes, count] = sums_[block.site];
    bytes += sign * static_cast<std::int64_t>(block.bytes);
    count += sign;
  }
  std::vector<CauseLine> lines(const MemoryHistory& history) const {
    LineSums lines;
    for (const auto& [index, sum] : sums_) {
      const HistorySite& site = history.sites[index];
      lines.add(site.file, site.line, site.op, site.library, sum.first, sum.second);
    }
    return lines.largest_first();
  }

 private:
  std::map<std::uint32_t, std::pair<std::int64_t, std::int64_t>> sums_;  ///< bytes and count
};

std::optional<std::size_t> step_that_grows_most(const std::vector<std::int64_t>& at_ends) {
  std::optional<std::size_t> most;
  for (std::size_t i = kFirstGrowing; i < at_ends.size(); ++i) {
    const auto growth = [&](std::size_t step) { return at_ends[step] - at_ends[step - 1]; };
    if (!most || growth(i) > growth(*most)) most = i;
  }
  return most;
}

std::vector<std::int64_t> bytes_at_ends(const MemoryHistory& history,
                                        const DeviceMemoryHistory& device) {
  std::vector<std::int64_t> bytes(history.steps.size() + 1, 0);
  const auto first_end = [&](std::uint32_t event) {
    return static_cast<std::size_t>(
        std::lower_bound(history.steps.begin(), history.steps.end(), event) -
        history.steps.begin());
  };
  for (const HistoryBlock& block : device.blocks) {
    bytes[first_end(block.begin)] += static_cast<std::int64_t>(block.bytes);
    bytes[first_end(block.end)] -= static_cast<std::int64_t>(block.bytes);
  }
  for (std::size_t i = 1; i < bytes.size(); ++i) bytes[i] += bytes[i - 1];
  bytes.pop_back();  // behind the last step
  return bytes;
}

}  // namespace

std::optional<std::int64_t> growth_per_step(
    const std::vector<std::vector<std::int64_t>>& allocated_at_marks) {
  std::optional<std::int64_t> largest;
  for (const std::vector<std::int64_t>& at_ends : allocated_at_marks) {
    const auto step = step_that_grows_most(at_ends);
    if (!step) continue;
    const std::int64_t growth = at_ends[*step] - at_ends[*step - 1];
    largest = std::max(growth, largest.value_or(growth));
  }
  return largest;
}

std::vector<CauseLine> lines_of_growth(const MemoryHistory& history,
                                       const DeviceMemoryHistory& device) {
  const auto step = step_that_grows_most(bytes_at_ends(history, device));
  if (!step) return {};
  const std::uint32_t before = history.steps[*step - 1];
  const std::uint32_t after = history.steps[*step];
  SiteSums sums;
  for (const HistoryBlock& block : device.blocks) {
    const int change =
        static_cast<int>(is_alive(block, after)) - static_cast<int>(is_alive(block, before));
    if (change != 0) sums.add(block, change);
  }
  return sums.lines(history);
}

std::vector<CauseLine> lines_at_end(const MemoryHistory& history,
                                    const DeviceMemoryHistory& device) {
  SiteSums sums;
  for (const HistoryBlock& block : device.blocks) {
    if (block.end >= history.events) sums.add(block, 1);
  }
  return sums.lines(history);
}

std::vector<CauseLine> lines_of_holders(const std::vector<HolderResult>& holders) {
  LineSums sums;
  for (const HolderResult& holder : holders) {
    sums.add(holder.file, holder.line, holder.op, holder.library, holder.bytes, holder.count,
             holder.text);
  }
  return sums.largest_first();
}

}  // namespace ohm::reports
