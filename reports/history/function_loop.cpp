#include "reports/history/function_loop.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace ohm::reports {

namespace {

/// Fewer are not a loop.
constexpr std::size_t kFewestPasses = 3;
constexpr auto kNone = static_cast<std::size_t>(-1);

/// Sums of what stands before a position, where single positions change (a Fenwick tree).
class PrefixSums {
 public:
  explicit PrefixSums(std::size_t size) : sums_(size + 1) {}

  void add(std::size_t position, std::uint64_t value) {
    for (std::size_t i = position + 1; i < sums_.size(); i += i & (~i + 1)) sums_[i] += value;
  }
  std::uint64_t before(std::size_t position) const {
    std::uint64_t sum = 0;
    for (std::size_t i = position; i > 0; i -= i & (~i + 1)) sum += sums_[i];
    return sum;
  }

 private:
  std::vector<std::uint64_t> sums_;
};

/// Which lines a pass has: their number, and the sum of random numbers that stand for them.
struct LineSet {
  std::uint64_t lines = 0;
  std::uint64_t sum = 0;

  bool operator==(const LineSet&) const = default;
  bool operator<(const LineSet& other) const {
    return std::tie(lines, sum) < std::tie(other.lines, other.sum);
  }
};

/// The last step of SplitMix64.
std::uint64_t random_number_of(FrameId line) {
  std::uint64_t x = (std::uint64_t{line} + 1) * 0x9E3779B97F4A7C15U;
  x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27U)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31U);
}

class LineSets {
 public:
  explicit LineSets(const std::vector<Stay>& stays) : stays_(stays) {
    std::unordered_map<FrameId, std::size_t> last;
    for (std::size_t i = 0; i < stays.size(); ++i) {
      const auto [known, is_new] = last.try_emplace(stays[i].line, i);
      before_.push_back(is_new ? kNone : std::exchange(known->second, i));
    }
  }

  /// Of any passes, from one end of the stays to the other: each line counts where it stands last
  /// before the end of the pass.
  std::vector<LineSet> of(const std::vector<Pass>& passes) const {
    std::vector<std::size_t> order(passes.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return passes[a].end < passes[b].end; });
    PrefixSums lines(stays_.size());
    PrefixSums sums(stays_.size());
    std::vector<LineSet> sets(passes.size());
    std::size_t at = 0;
    for (const std::size_t i : order) {
      for (; at < passes[i].end; ++at) {
        const std::uint64_t number = random_number_of(stays_[at].line);
        lines.add(at, 1);
        sums.add(at, number);
        if (before_[at] == kNone) continue;
        lines.add(before_[at], ~std::uint64_t{0});
        sums.add(before_[at], ~number + 1);
      }
      sets[i] = {lines.before(passes[i].end) - lines.before(passes[i].begin),
                 sums.before(passes[i].end) - sums.before(passes[i].begin)};
    }
    return sets;
  }

 private:
  const std::vector<Stay>& stays_;
  std::vector<std::size_t> before_;  ///< where the line of a stay stood before
};

/// Where the stays go on in the lines of a set. Each set is asked for positions in ascending order.
class Extents {
 public:
  explicit Extents(const std::vector<Stay>& stays) : stays_(stays) {}

  const std::set<FrameId>& lines_of(const LineSet& set, const Pass& one) {
    Extent& extent = extents_[set];
    if (extent.lines.empty()) {
      for (std::size_t i = one.begin; i < one.end; ++i) extent.lines.insert(stays_[i].line);
    }
    return extent.lines;
  }

  /// The first stay from this one on that is in none of the lines; `one`: a pass with them.
  std::size_t end_of(const LineSet& set, const Pass& one, std::size_t begin) {
    const std::set<FrameId>& lines = lines_of(set, one);
    std::size_t& end = extents_[set].end;
    end = std::max(end, begin);
    while (end < stays_.size() && lines.contains(stays_[end].line)) ++end;
    return end;
  }

 private:
  struct Extent {
    std::set<FrameId> lines;
    std::size_t end = 0;
  };

  const std::vector<Stay>& stays_;
  std::map<LineSet, Extent> extents_;
};

/// Passes that begin in one line, each up to the next, and what most of them are like.
struct Loop {
  std::vector<Pass> passes;
  LineSet usual;
  Pass usual_pass;
  std::size_t alike = 0;  ///< passes with the usual lines
};

/// Lines that a loop comes back to, that of the fewest passes first.
class LinesOfLoop {
 public:
  explicit LinesOfLoop(const Loop& loop) : rarest_(&loop), first_(&loop) {}

  /// A line that is passed as often as this one is, where this one is: some are passed in a part of
  /// the loop's passes alone, and from its second line on a loop has one whole pass less.
  bool takes(const Loop& loop) {
    const std::size_t inside = entries_inside(loop);
    if (inside + 1 < rarest_->passes.size() || inside > rarest_->passes.size() + 1) return false;
    if (loop.passes[0].begin < first_->passes[0].begin) first_ = &loop;
    return true;
  }

  /// A line of a loop in this one, which is passed more often.
  bool has_inside(const Loop& loop) const {
    return entries_inside(loop) > rarest_->passes.size() + 1;
  }

  const Loop& first() const { return *first_; }

 private:
  std::size_t entries_inside(const Loop& loop) const {
    const auto comes_before = [](const Pass& pass, std::size_t at) { return pass.begin < at; };
    const auto behind = [&](std::size_t at) {
      return std::lower_bound(loop.passes.begin(), loop.passes.end(), at, comes_before);
    };
    return static_cast<std::size_t>(behind(rarest_->passes.back().end) -
                                    behind(rarest_->passes.front().begin));
  }

  const Loop* rarest_;
  const Loop* first_;
};

class LoopFinder {
 public:
  explicit LoopFinder(const std::vector<Stay>& stays)
      : stays_(stays), line_sets_(stays), extents_(stays) {
    for (const Stay& stay : stays) {
      trains_.push_back(trains_.back() + (stay.trains ? 1 : 0));
      calls_module_.push_back(calls_module_.back() + (stay.calls_module ? 1 : 0));
      makes_data_.push_back(makes_data_.back() + (stay.makes_data ? 1 : 0));
    }
  }

  std::vector<Pass> run() {
    std::vector<Loop> loops = candidates();
    add_last_passes(loops);
    std::erase_if(loops, [](const Loop& loop) { return !is_loop(loop); });
    std::sort(loops.begin(), loops.end(), [](const Loop& a, const Loop& b) {
      return std::pair(a.passes.size(), a.passes[0].begin) <
             std::pair(b.passes.size(), b.passes[0].begin);
    });
    std::vector<LinesOfLoop> found;
    for (const Loop& loop : loops) {
      const bool is_known = std::any_of(found.begin(), found.end(), [&](LinesOfLoop& one) {
        return one.takes(loop) || one.has_inside(loop);
      });
      if (!is_known) found.emplace_back(loop);
    }
    const auto best = std::max_element(
        found.begin(), found.end(),
        [this](const LinesOfLoop& a, const LinesOfLoop& b) { return weight_of(a) < weight_of(b); });
    return best == found.end() ? std::vector<Pass>() : best->first().passes;
  }

 private:
  /// Those that can be loops, with what their last passes can add.
  std::vector<Loop> candidates() {
    std::map<FrameId, std::vector<std::size_t>> entries;
    for (std::size_t i = 0; i < stays_.size(); ++i) entries[stays_[i].line].push_back(i);
    std::vector<Pass> all;
    for (const auto& [line, at] : entries) {
      if (at.size() < kFewestPasses) continue;
      for (std::size_t i = 0; i + 1 < at.size(); ++i) all.push_back({at[i], at[i + 1]});
    }
    const std::vector<LineSet> sets = line_sets_.of(all);
    std::vector<Loop> loops;
    for (std::size_t i = 0; i < all.size();) {
      std::size_t end = i + 1;
      while (end < all.size() && all[end].begin == all[end - 1].end) ++end;
      if (std::optional<Loop> loop = loop_of(all, sets, i, end)) loops.push_back(std::move(*loop));
      i = end;
    }
    return loops;
  }

  /// Of one line, whose passes these are.
  std::optional<Loop> loop_of(const std::vector<Pass>& all, const std::vector<LineSet>& sets,
                              std::size_t begin, std::size_t end) {
    std::map<LineSet, std::pair<std::size_t, std::size_t>> kinds;  // how many, and the first
    for (std::size_t i = begin; i < end; ++i)
      ++kinds.try_emplace(sets[i], 0, i).first->second.first;
    std::size_t alike = 0;
    for (const auto& [set, kind] : kinds) alike = std::max(alike, kind.first);
    if (!is_often(alike + 1, end - begin + 1) || !is_of_program(all[begin], alike)) {
      return std::nullopt;
    }
    Loop loop;
    loop.alike = alike;
    // There are hardly two kinds of which there are most.
    const std::set<FrameId>* lines = nullptr;
    for (const auto& [set, kind] : kinds) {
      if (kind.first < alike) continue;
      const std::set<FrameId>& others = extents_.lines_of(set, all[kind.second]);
      if (lines != nullptr && !(others < *lines)) continue;
      lines = &others;
      loop.usual = set;
      loop.usual_pass = all[kind.second];
    }
    if (loop.usual.lines < 2) return std::nullopt;
    loop.passes.assign(all.begin() + static_cast<std::ptrdiff_t>(begin),
                       all.begin() + static_cast<std::ptrdiff_t>(end));
    return loop;
  }

  /// The last pass ends where it leaves the lines of the others.
  void add_last_passes(std::vector<Loop>& loops) {
    std::sort(loops.begin(), loops.end(), [](const Loop& a, const Loop& b) {
      return a.passes.back().end < b.passes.back().end;
    });
    std::vector<Pass> last;
    for (const Loop& loop : loops) {
      const std::size_t begin = loop.passes.back().end;
      last.push_back({begin, extents_.end_of(loop.usual, loop.usual_pass, begin)});
    }
    const std::vector<LineSet> sets = line_sets_.of(last);
    for (std::size_t i = 0; i < loops.size(); ++i) {
      if (sets[i] != loops[i].usual) continue;
      loops[i].passes.push_back(last[i]);
      ++loops[i].alike;
    }
  }

  static bool is_often(std::size_t alike, std::size_t passes) {
    return alike >= kFewestPasses && 2 * alike >= passes;
  }

  /// Of loops that follow each other one that trains, and then the longest.
  std::pair<bool, std::size_t> weight_of(const LinesOfLoop& lines) const {
    const Pass& first = lines.first().passes.front();
    const Pass& last = lines.first().passes.back();
    return {trains_[last.end] > trains_[first.begin], last.end - first.begin};
  }

  static bool is_loop(const Loop& loop) { return is_often(loop.alike, loop.passes.size()); }

  bool is_of_program(const Pass& pass, std::size_t alike) const {
    constexpr std::size_t kFewestOfData = 10;
    const Stay& first = stays_[pass.begin];
    const auto counts_in = [&pass](const std::vector<std::size_t>& before) {
      return before[pass.end] > before[pass.begin];
    };
    return counts_in(trains_) || (alike >= kMoreThanLayers && counts_in(calls_module_)) ||
           (!first.is_in_module && !first.calls_module && counts_in(calls_module_)) ||
           (!first.is_in_module && alike >= kFewestOfData && counts_in(makes_data_));
  }

  const std::vector<Stay>& stays_;
  LineSets line_sets_;
  Extents extents_;
  std::vector<std::size_t> trains_ = {0};        ///< stays before this one that do
  std::vector<std::size_t> calls_module_ = {0};  ///< the same
  std::vector<std::size_t> makes_data_ = {0};    ///< the same
};

}  // namespace

std::vector<Pass> outermost_loop(const std::vector<Stay>& stays) { return LoopFinder(stays).run(); }

}  // namespace ohm::reports
