#include "reports/history/repeated_data_finding.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/text/measured_text.h"

namespace ohm::reports {

namespace {

using Sizes = std::map<std::uint64_t, std::int64_t>;  ///< blocks of each size

/// Copies of smaller shares, and of fewer blocks, are chance or do not matter.
constexpr std::size_t kFewestBlocks = 4;
constexpr double kShareThatMatches = 0.9;
/// One of so many may have another size than its copy.
constexpr std::int64_t kMostOdd = 8;

bool is_loading(std::string_view function) {
  constexpr std::array<std::string_view, 6> kLoads = {"load",      "_load",           "torch_load",
                                                      "load_file", "load_state_dict", "load_model"};
  return std::find(kLoads.begin(), kLoads.end(), function) != kLoads.end();
}

bool is_copying(std::string_view function) {
  return function == "deepcopy" || function == "__deepcopy__" || function == "clone" ||
         is_loading(function);
}

/// Data that stays, and not what is computed in a step. An optimizer's state has the sizes of
/// parameters anyway.
bool is_data(const HistoryBlock& block) {
  return block.category == Category::parameter || block.category == Category::input ||
         block.category == Category::other;
}

/// The event that makes it; UINT32_MAX: nothing is computed.
std::uint32_t first_activation(const SteppedDevice& device) {
  std::uint32_t first = UINT32_MAX;
  for (const HistoryBlock& block : device.blocks()) {
    if (block.category == Category::activation) first = std::min(first, block.begin);
  }
  return first;
}

struct Line {
  std::vector<const HistoryBlock*> blocks;
  FindingPlaces places;
};

class RepeatedData {
 public:
  explicit RepeatedData(const SteppedDevice& device)
      : device_(device),
        moment_(device.moment_that_counts()),
        first_result_(first_activation(device)) {
    for (const HistoryBlock& block : device.blocks()) {
      if (!is_alive(block, moment_)) continue;
      alive_bytes_ += static_cast<std::int64_t>(block.bytes);
      if (!is_data(block)) continue;
      ++sizes_[block.bytes];
      if (block.category == Category::parameter) ++parameters_[block.bytes];
      if (may_end_in_its_step(block)) continue;
      const bool is_copy = is_made_by(block.site, is_copying);
      // What a program moves to the GPU before it computes anything may be weights.
      const bool is_moved = block.category == Category::input && block.begin < first_result_ &&
                            device.step_of(block.begin) == 0;
      if (is_copy || is_moved) add(block, is_copy ? copied_ : moved_);
    }
  }

  std::optional<FindingResult> run() const {
    const Line* most = nullptr;
    for (const auto& [place, line] : copied_) {
      const bool is_larger = most == nullptr || line.places.bytes() > most->places.bytes();
      if (is_larger && is_repeated(line)) most = &line;
    }
    for (const auto& [place, line] : moved_) {
      const bool is_larger = most == nullptr || line.places.bytes() > most->places.bytes();
      if (is_larger && has_sizes_of_parameters(line)) most = &line;
    }
    return most == nullptr ? std::nullopt : std::optional(found(*most));
  }

 private:
  using Place = std::pair<std::string, int>;
  using Lines = std::map<Place, Line>;

  void add(const HistoryBlock& block, Lines& lines) const {
    Line& line = lines[line_of(block.site)];
    line.blocks.push_back(&block);
    line.places.add(block);
  }

  Place line_of(std::uint32_t site) const {
    const HistorySite& one = device_.history().sites[site];
    return {one.file, one.line};
  }

  /// Whether one of the functions that called it, or its op, is such a one.
  template <class Is>
  bool is_made_by(std::uint32_t site, Is is) const {
    const MemoryHistory& history = device_.history();
    if (site >= history.sites.size()) return false;
    for (std::uint32_t call = history.sites[site].call; call != 0;
         call = history.calls[call - 1].caller) {
      if (is(history.lines[history.calls[call - 1].line].function)) return true;
    }
    return is(history.sites[site].op);
  }

  /// What a step copies for itself: weights that an optimizer restores, fast weights.
  bool may_end_in_its_step(const HistoryBlock& block) const {
    const MemoryHistory& history = device_.history();
    const std::size_t step = device_.step_of(block.begin);
    if (step == 0 || step >= device_.steps().size()) return false;
    if (block.end < history.events) return step == device_.step_of(block.end);
    // Of a record that breaks off nobody knows.
    return history.oom_event && step == device_.step_of(moment_) &&
           !is_made_by(block.site, is_loading);
  }

  bool is_of_several_steps(const Line& line) const {
    // Blocks come in the order of their begin.
    return device_.step_of(line.blocks.front()->begin) < device_.step_of(line.blocks.back()->begin);
  }

  bool is_repeated(const Line& line) const {
    if (line.blocks.size() < kFewestBlocks || !is_share(line.places.bytes(), alive_bytes_)) {
      return false;
    }
    Sizes own;
    for (const HistoryBlock* block : line.blocks) ++own[block->bytes];
    std::uint64_t matched = 0;
    for (const auto& [bytes, blocks] : own) {
      const std::int64_t others = sizes_.at(bytes) - blocks;
      // A copy of each; or two, where the next is made before the last is gone. A few may have got
      // larger blocks than they need.
      const bool is_twice = blocks == 2 * others && is_of_several_steps(line);
      const bool is_matched = is_twice || kMostOdd * (blocks - others) <= blocks;
      const std::int64_t counted = is_twice ? blocks : std::min(blocks, others);
      if (is_matched) matched += bytes * static_cast<std::uint64_t>(counted);
    }
    return static_cast<double>(matched) >=
           kShareThatMatches * static_cast<double>(line.places.bytes());
  }

  /// Of all, and of nothing else.
  bool has_sizes_of_parameters(const Line& line) const {
    if (line.blocks.size() < kFewestBlocks || !is_share(line.places.bytes(), alive_bytes_)) {
      return false;
    }
    Sizes own;
    for (const HistoryBlock* block : line.blocks) ++own[block->bytes];
    std::int64_t matched = 0;
    std::int64_t parameter_bytes = 0;
    for (const auto& [bytes, blocks] : parameters_) {
      const auto found = own.find(bytes);
      const std::int64_t moved = found == own.end() ? 0 : found->second;
      matched += static_cast<std::int64_t>(bytes) * std::min(blocks, moved);
      parameter_bytes += static_cast<std::int64_t>(bytes) * blocks;
    }
    const std::int64_t larger = std::max(parameter_bytes, line.places.bytes());
    return static_cast<double>(matched) >= kShareThatMatches * static_cast<double>(larger);
  }

  FindingResult found(const Line& line) const {
    FindingResult finding = device_.finding(
        "the same data twice", "unreleased_variables",
        fmt::format(
            "{} blocks, {}, that one line loads or copies have the sizes of others that are "
            "alive beside them",
            grouped(static_cast<std::int64_t>(line.blocks.size())),
            short_bytes(line.places.bytes())),
        line.places);
    finding.summary = fmt::format(
        "{} blocks, {}, that are loaded or copied here have the sizes of other live blocks",
        grouped(static_cast<std::int64_t>(line.blocks.size())), short_bytes(line.places.bytes()));
    return finding;
  }

  const SteppedDevice& device_;
  std::uint32_t moment_;
  std::uint32_t first_result_;
  std::int64_t alive_bytes_ = 0;
  Sizes sizes_;
  Sizes parameters_;
  Lines copied_;
  Lines moved_;
};

}  // namespace

std::optional<FindingResult> repeated_data_finding(const SteppedDevice& device) {
  return RepeatedData(device).run();
}

}  // namespace ohm::reports
