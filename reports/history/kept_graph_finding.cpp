#include "reports/history/kept_graph_finding.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "reports/history/shown_place.h"
#include "reports/text/measured_text.h"

namespace ohm::reports {

namespace {

/// A site and a category: the workspace that a line makes once is not an old result.
std::uint64_t key_of(const HistoryBlock& block) {
  return std::uint64_t{block.site} * kCategoryCount + static_cast<std::uint64_t>(block.category);
}

/// What earlier steps have left, followed from step to step: each block comes and goes once.
class OlderBlocks {
 public:
  explicit OlderBlocks(const SteppedDevice& device) : device_(device) {}

  /// To a moment of this step; steps in ascending order.
  void go_to(std::size_t step, std::uint32_t moment) {
    const std::vector<HistoryBlock>& blocks = device_.blocks();
    const std::uint32_t end_before = device_.steps()[step - 1];
    for (; next_ < blocks.size() && blocks[next_].begin <= end_before; ++next_) {
      if (blocks[next_].begin > 0) add(blocks[next_]);
    }
    // What never goes is not a result that is replaced, unless the record ends with this step.
    if (step + 1 >= device_.steps().size()) {
      for (const HistoryBlock* block : staying_) add_going(*block);
      staying_.clear();
    }
    while (!alive_.empty() && alive_.front()->end <= moment) {
      std::pop_heap(alive_.begin(), alive_.end(), ends_later);
      bytes_[key_of(*alive_.back())] -= static_cast<std::int64_t>(alive_.back()->bytes);
      alive_.pop_back();
    }
  }

  /// Where they end, the blocks of this step begin.
  std::size_t end() const { return next_; }

  std::int64_t bytes_of(std::uint64_t key) const {
    const auto found = bytes_.find(key);
    return found == bytes_.end() ? 0 : found->second;
  }

  /// In no order.
  const std::vector<const HistoryBlock*>& alive() const { return alive_; }

 private:
  static bool ends_later(const HistoryBlock* a, const HistoryBlock* b) { return a->end > b->end; }

  void add(const HistoryBlock& block) {
    if (block.end < device_.history().events) {
      add_going(block);
    } else {
      staying_.push_back(&block);
    }
  }

  void add_going(const HistoryBlock& block) {
    alive_.push_back(&block);
    std::push_heap(alive_.begin(), alive_.end(), ends_later);
    bytes_[key_of(block)] += static_cast<std::int64_t>(block.bytes);
  }

  const SteppedDevice& device_;
  std::size_t next_ = 0;
  std::vector<const HistoryBlock*> alive_;    ///< a heap, that which ends first in front
  std::vector<const HistoryBlock*> staying_;  ///< to the end of the record
  std::unordered_map<std::uint64_t, std::int64_t> bytes_;  ///< of those that are alive, by key
};

/// A step's fullest event: what earlier steps have left there beside its own of the same lines and
/// categories. The whole graph of one step is more than a result that a variable holds until it is
/// assigned again.
class KeptGraph {
 public:
  explicit KeptGraph(const SteppedDevice& device) : device_(device), older_(device) {}

  bool is_in_every_step() {
    const std::size_t last = device_.last();
    const std::vector<std::uint32_t> moments = device_.fullest_events(2, last);
    for (std::size_t step = 2; step <= last; ++step) {
      older_.go_to(step, moments[step - 2]);
      take_own(step, moments[step - 2]);
      if (!is_graph()) return false;
    }
    return true;
  }

  /// Of the step that was looked at last.
  FindingPlaces places() const {
    FindingPlaces places;
    for (const HistoryBlock* block : older_.alive()) {
      if (own_.contains(key_of(*block))) places.add(*block);
    }
    return places;
  }

 private:
  void take_own(std::size_t step, std::uint32_t moment) {
    own_.clear();
    own_bytes_ = 0;
    const std::vector<HistoryBlock>& blocks = device_.blocks();
    const std::uint32_t end = device_.steps()[step];
    for (std::size_t i = older_.end(); i < blocks.size() && blocks[i].begin <= end; ++i) {
      if (!is_alive(blocks[i], moment)) continue;
      own_.emplace(key_of(blocks[i]), blocks[i].site);
      own_bytes_ += static_cast<std::int64_t>(blocks[i].bytes);
    }
  }

  bool is_graph() {
    std::int64_t bytes = 0;
    std::unordered_set<std::size_t> ops;
    for (const auto& [key, site] : own_) {
      const std::int64_t older = older_.bytes_of(key);
      if (older == 0) continue;
      bytes += older;
      ops.insert(op_of(site));
    }
    return ops.size() > 2 && 2 * bytes >= own_bytes_ &&
           is_share(bytes, device_.result().peak_allocated_bytes);
  }

  /// The number of the op, of whichever module.
  std::size_t op_of(std::uint32_t site) {
    const auto [known, is_new] = op_of_site_.try_emplace(site);
    if (is_new) {
      known->second =
          ops_.try_emplace(shown_op(device_.history().sites[site]), ops_.size()).first->second;
    }
    return known->second;
  }

  const SteppedDevice& device_;
  OlderBlocks older_;
  std::unordered_map<std::uint64_t, std::uint32_t> own_;  ///< the step's own: the site of a key
  std::int64_t own_bytes_ = 0;
  std::unordered_map<std::uint32_t, std::size_t> op_of_site_;
  std::map<ShownPlace, std::size_t> ops_;
};

}  // namespace

std::optional<FindingResult> kept_graph_finding(const SteppedDevice& device) {
  if (!device.has_steps_to_compare()) return std::nullopt;
  KeptGraph graph(device);
  if (!graph.is_in_every_step()) return std::nullopt;
  const FindingPlaces places = graph.places();
  const std::string caller = places.common_caller(device.history());
  FindingResult finding = device.finding(
      "a graph kept alive across steps", "unreleased_variables",
      fmt::format("at the peak of step {} {} of earlier steps are still there, made by the same "
                  "lines{} as in every step before: a variable holds its last result while the "
                  "next is computed",
                  device.last() + 1, short_bytes(places.bytes()), caller.empty() ? "," : caller),
      places);
  finding.summary = fmt::format("{} of an earlier step's graph are still alive in each step",
                                short_bytes(places.bytes()));
  return finding;
}

}  // namespace ohm::reports
