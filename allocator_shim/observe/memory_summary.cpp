#include "allocator_shim/observe/memory_summary.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

namespace ohm {
namespace {

constexpr std::size_t kWidth = 75;

/// Units that a figure moves up through while the row's reference value has too many digits.
struct Scale {
  std::array<std::string_view, 6> units;
  std::size_t unit_count;
  std::int64_t step;
  double largest;  ///< the reference value from which the next unit is taken
  int digits;
};
constexpr Scale kBytes = {{"B  ", "KiB", "MiB", "GiB", "TiB", "PiB"}, 6, 1024, 768.0 * 1024, 6};
constexpr Scale kCounts = {{"  ", "K ", "M "}, 3, 1000, 750.0 * 1000, 7};

/// All rows of a metric share the unit that suits its first row.
std::string figure(std::int64_t value, std::int64_t reference, const Scale& scale) {
  std::size_t unit = 0;
  auto scaled_reference = static_cast<double>(reference);
  while (unit + 1 < scale.unit_count && scaled_reference >= scale.largest) {
    ++unit;
    value /= scale.step;
    scaled_reference /= static_cast<double>(scale.step);
  }
  return fmt::format("{:>{}} {}", value, scale.digits, scale.units[unit]);
}

std::string row(std::string_view name, const Stat& stat, const Stat& reference,
                const Scale& scale) {
  return fmt::format(
      " {:<21} | {} | {} | {} | {} ", name, figure(stat.current, reference.current, scale),
      figure(stat.peak, reference.peak, scale), figure(stat.allocated, reference.allocated, scale),
      figure(stat.freed, reference.freed, scale));
}

struct Metric {
  PooledStat MemoryStats::*stat;
  std::string_view name;
  const Scale& scale;
};
constexpr std::array<Metric, 9> kMetrics = {
    {{&MemoryStats::allocated_bytes, "Allocated memory", kBytes},
     {&MemoryStats::active_bytes, "Active memory", kBytes},
     {&MemoryStats::requested_bytes, "Requested memory", kBytes},
     {&MemoryStats::reserved_bytes, "GPU reserved memory", kBytes},
     {&MemoryStats::inactive_split_bytes, "Non-releasable memory", kBytes},
     {&MemoryStats::allocation, "Allocations", kCounts},
     {&MemoryStats::active, "Active allocs", kCounts},
     {&MemoryStats::segment, "GPU reserved segments", kCounts},
     {&MemoryStats::inactive_split, "Non-releasable allocs", kCounts}}};

class Table {
 public:
  void line(std::string_view text) { text_ += fmt::format("|{}|\n", text); }
  void rule(char c) { line(std::string(kWidth, c)); }
  void single(std::string_view name, const Stat& stat) {
    rule('-');
    line(row(name, stat, stat, kCounts));
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

}  // namespace

std::string memory_summary(const MemoryStats& stats, int device, SummaryRows rows) {
  Table table;
  table.rule('=');
  table.line(fmt::format(" {:16} PyTorch CUDA memory summary, device ID {:<17} ", "", device));
  table.rule('-');
  table.line(fmt::format("  {:9} CUDA OOMs: {:<12} | {:6} cudaMalloc retries: {:<8}  ", "",
                         stats.num_ooms, "", stats.num_alloc_retries));
  table.rule('=');
  table.line("        Metric         | Cur Usage  | Peak Usage | Tot Alloc  | Tot Freed  ");
  for (const Metric& metric : kMetrics) {
    const PooledStat& stat = stats.*metric.stat;
    const Stat& all = stat[static_cast<std::size_t>(StatPool::all)];
    const Stat& large = stat[static_cast<std::size_t>(StatPool::large_pool)];
    const Stat& small = stat[static_cast<std::size_t>(StatPool::small_pool)];
    table.rule('-');
    table.line(row(metric.name, all, all, metric.scale));
    if (rows == SummaryRows::abbreviated) continue;
    table.line(row("      from large pool", large, all, metric.scale));
    table.line(row("      from small pool", small, all, metric.scale));
  }
  table.single("Oversize allocations", stats.oversize_allocations);
  table.single("Oversize GPU segments", stats.oversize_segments);
  table.rule('=');
  return table.take();
}

}  // namespace ohm
