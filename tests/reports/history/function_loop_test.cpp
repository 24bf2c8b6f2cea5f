#include "reports/history/function_loop.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <ostream>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace ohm::reports {

bool operator==(const Pass& a, const Pass& b) { return a.begin == b.begin && a.end == b.end; }
void PrintTo(const Pass& pass, std::ostream* out) { *out << pass.begin << " to " << pass.end; }

namespace {

/// The definition, pass by pass and line by line.
class LiteralLoops {
 public:
  explicit LiteralLoops(const std::vector<Stay>& stays) : stays_(stays) {}

  std::vector<Pass> outermost() const {
    std::map<FrameId, std::vector<std::size_t>> entries;
    for (std::size_t i = 0; i < stays_.size(); ++i) entries[stays_[i].line].push_back(i);
    std::vector<std::vector<Pass>> loops;
    for (const auto& [line, at] : entries) {
      std::vector<Pass> passes = passes_at(at);
      if (!passes.empty()) loops.push_back(std::move(passes));
    }
    std::sort(loops.begin(), loops.end(), [](const auto& a, const auto& b) {
      return std::pair(a.size(), a[0].begin) < std::pair(b.size(), b[0].begin);
    });
    std::vector<std::pair<std::vector<Pass>, std::vector<Pass>>> found;  // the rarest, the first
    for (const std::vector<Pass>& loop : loops) {
      bool is_known = false;
      for (auto& [rarest, first] : found) {
        const std::size_t inside = entries_inside(loop, rarest);
        if (inside + 1 < rarest.size()) continue;
        is_known = true;
        const bool is_same = inside <= rarest.size() + 1;
        if (is_same && loop[0].begin < first[0].begin) first = loop;
        break;
      }
      if (!is_known) found.emplace_back(loop, loop);
    }
    std::vector<Pass> best;
    for (const auto& [rarest, first] : found) {
      if (best.empty() || weight_of(best) < weight_of(first)) best = first;
    }
    return best;
  }

 private:
  static std::size_t entries_inside(const std::vector<Pass>& loop, const std::vector<Pass>& other) {
    return static_cast<std::size_t>(std::count_if(loop.begin(), loop.end(), [&](const Pass& pass) {
      return pass.begin >= other.front().begin && pass.begin < other.back().end;
    }));
  }

  std::pair<bool, std::size_t> weight_of(const std::vector<Pass>& loop) const {
    const auto begin = stays_.begin() + static_cast<std::ptrdiff_t>(loop.front().begin);
    const auto end = stays_.begin() + static_cast<std::ptrdiff_t>(loop.back().end);
    return {std::any_of(begin, end, [](const Stay& stay) { return stay.trains; }),
            loop.back().end - loop.front().begin};
  }

  std::set<FrameId> lines_of(const Pass& pass) const {
    std::set<FrameId> lines;
    for (std::size_t i = pass.begin; i < pass.end; ++i) lines.insert(stays_[i].line);
    return lines;
  }

  std::vector<Pass> passes_at(const std::vector<std::size_t>& entries) const {
    if (entries.size() < 3) return {};
    std::map<std::set<FrameId>, std::size_t> kinds;
    std::vector<Pass> passes;
    for (std::size_t i = 0; i + 1 < entries.size(); ++i) {
      passes.push_back({entries[i], entries[i + 1]});
      ++kinds[lines_of(passes.back())];
    }
    const auto usual =
        std::max_element(kinds.begin(), kinds.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    std::size_t alike = usual->second;
    Pass last{entries.back(), entries.back()};
    while (last.end < stays_.size() && usual->first.count(stays_[last.end].line) != 0) ++last.end;
    if (lines_of(last) == usual->first) {
      passes.push_back(last);
      ++alike;
    }
    const bool is_loop = usual->first.size() > 1 && alike >= 3 && 2 * alike >= passes.size() &&
                         is_of_program(passes.front());
    return is_loop ? passes : std::vector<Pass>();
  }

  bool is_of_program(const Pass& pass) const {
    const auto begin = stays_.begin() + static_cast<std::ptrdiff_t>(pass.begin);
    const auto end = stays_.begin() + static_cast<std::ptrdiff_t>(pass.end);
    if (std::any_of(begin, end, [](const Stay& stay) { return stay.trains; })) return true;
    const auto calls_module = [](const Stay& stay) { return stay.calls_module; };
    return !begin->is_in_module && !begin->calls_module && std::any_of(begin, end, calls_module);
  }

  const std::vector<Stay>& stays_;
};

Stay stay_in(FrameId line, bool trains = false) {
  Stay stay;
  stay.line = line;
  stay.trains = trains;
  stay.is_in_module = false;
  return stay;
}

/// One line per number; the last of the loop trains.
std::vector<Stay> stays_of(const std::vector<FrameId>& lines, FrameId training) {
  std::vector<Stay> stays;
  for (const FrameId line : lines) stays.push_back(stay_in(line, line == training));
  return stays;
}

TEST(FunctionLoop, OfModulesAloneIsALoopWhereThereAreMorePassesThanLayers) {
  const auto loop_of = [](int passes) {
    std::vector<Stay> stays = {stay_in(9)};
    for (int i = 0; i < passes; ++i) {
      for (const FrameId line : {1U, 2U}) {
        Stay& stay = stays.emplace_back(stay_in(line));
        stay.is_in_module = stay.calls_module = true;
      }
    }
    return outermost_loop(stays);
  };
  EXPECT_TRUE(loop_of(40).empty()) << "these may be layers";
  EXPECT_EQ(80U, loop_of(80).size());
}

TEST(FunctionLoop, IsWhereTheLinesComeBack) {
  EXPECT_EQ((std::vector<Pass>{{1, 4}, {4, 7}, {7, 10}}),
            outermost_loop(stays_of({9, 1, 2, 3, 1, 2, 3, 1, 2, 3, 8}, 3)));
  EXPECT_TRUE(outermost_loop(stays_of({9, 1, 2, 3, 1, 2, 3, 8}, 3)).empty());
}

TEST(FunctionLoop, OfNestedLoopsIsTheOuterOne) {
  EXPECT_EQ((std::vector<Pass>{{0, 6}, {6, 12}, {12, 18}}),
            outermost_loop(stays_of({1, 2, 3, 2, 3, 4, 1, 2, 3, 2, 3, 4, 1, 2, 3, 2, 3, 4}, 4)));
}

/// `if step >= 3:` has fewer passes than the loop that it is in.
TEST(FunctionLoop, HasLinesThatSomePassesAloneComeBy) {
  EXPECT_EQ((std::vector<Pass>{{0, 2}, {2, 4}, {4, 6}, {6, 9}, {9, 12}, {12, 15}}),
            outermost_loop(stays_of({1, 2, 1, 2, 1, 2, 1, 3, 2, 1, 3, 2, 1, 3, 2, 1, 3, 2}, 2)));
}

TEST(FunctionLoop, OfSeveralIsTheOneThatTrains) {
  std::vector<Stay> stays =
      stays_of({1, 2, 1, 2, 1, 2, 1, 2, 3, 4, 3, 4, 3, 4, 5, 6, 5, 6, 5, 6}, 4);
  for (Stay& stay : stays) stay.calls_module = stay.line == 2 || stay.line == 6;
  EXPECT_EQ((std::vector<Pass>{{8, 10}, {10, 12}, {12, 14}}), outermost_loop(stays));
}

TEST(FunctionLoop, IsTheOneOfItsDefinitionForAnyLines) {
  std::mt19937 random(7);
  std::size_t found = 0;
  for (int program = 0; program < 4000; ++program) {
    std::vector<Stay> stays;
    const auto lines = 2 + random() % 6;
    const auto length = random() % 60;
    const bool is_regular = random() % 2 == 0;
    for (std::size_t i = 0; i < length; ++i) {
      const bool strays = !is_regular || random() % 12 == 0;
      const auto line = static_cast<FrameId>(strays ? random() % lines : i % lines);
      stays.push_back(stay_in(line, line == 0 && random() % 4 != 0));
      stays.back().is_in_module = random() % 5 == 0;
      stays.back().calls_module = random() % 3 == 0;
    }
    const std::vector<Pass> expected = LiteralLoops(stays).outermost();
    EXPECT_EQ(expected, outermost_loop(stays)) << "program " << program;
    found += expected.empty() ? 0 : 1;
  }
  EXPECT_GT(found, 500U);
}

}  // namespace
}  // namespace ohm::reports
