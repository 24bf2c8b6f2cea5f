#include "reports/history/inference_graph_finding.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "reports/text/measured_text.h"

namespace ohm::reports {

namespace {

constexpr std::uint32_t kNoCall = 0;  ///< calls count from 1, as in HistorySite

bool runs_module(std::string_view function) {
  return function == "_call_impl" || function == "_wrapped_call_impl";
}

/// What the calls of one line, by way of the same callers, have made.
struct Caller {
  std::vector<const HistoryBlock*> blocks;  ///< begun until the moment
  std::set<std::uint32_t> sites;            ///< of these
  std::set<std::uint32_t> alive_sites;      ///< with blocks at the moment
  std::int64_t alive_bytes = 0;
  std::int64_t alive_blocks = 0;
  std::uint32_t first_event = UINT32_MAX;
  std::int64_t let_go_bytes = 0;   ///< of what was alive then: freed later, without a gradient
  std::size_t trained_blocks = 0;  ///< that were alive while gradients were made
};

/// What one site of a call has made, without what is alive at the moment.
struct EarlierBlocks {
  std::size_t blocks = 0;
  std::size_t trained = 0;  ///< of these
};

class InferenceGraphs {
 public:
  explicit InferenceGraphs(const SteppedDevice& device)
      : device_(device), moment_(device.moment_that_counts()) {
    note_gradients();
    for (const HistoryBlock& block : device.blocks()) {
      if (block.begin > moment_) break;
      if (is_alive(block, moment_)) alive_bytes_ += static_cast<std::int64_t>(block.bytes);
      const bool is_of_pass = block.category == Category::activation ||
                              block.category == Category::other ||
                              block.category == Category::workspace;
      const std::uint32_t call = is_of_pass ? model_call(block.site) : kNoCall;
      if (call != kNoCall) add(block, callers_[call]);
    }
  }

  std::optional<FindingResult> run() const {
    for (const auto& [call, caller] : callers_) {
      if (keeps_graph(caller)) return found(device_.history().calls[call - 1].line, caller);
    }
    return std::nullopt;
  }

 private:
  void note_gradients() {
    for (const HistoryBlock& block : device_.blocks()) {
      if (block.category == Category::gradient) gradients_.push_back(block.begin);
    }
    std::sort(gradients_.begin(), gradients_.end());
  }

  bool has_gradient_in(std::uint32_t begin, std::uint32_t end) const {
    const auto next = std::upper_bound(gradients_.begin(), gradients_.end(), begin);
    return next != gradients_.end() && *next <= end;
  }

  /// Where the program's own code called the outermost model.
  std::uint32_t model_call(std::uint32_t site) {
    const auto [known, is_new] = calls_of_sites_.try_emplace(site, kNoCall);
    if (!is_new) return known->second;
    const MemoryHistory& history = device_.history();
    if (site >= history.sites.size()) return kNoCall;
    std::uint32_t found = kNoCall;
    bool is_called_by_module = false;
    for (std::uint32_t call = history.sites[site].call; call != 0;
         call = history.calls[call - 1].caller) {
      const std::uint32_t line = history.calls[call - 1].line;
      if (runs_module(history.lines[line].function)) {
        is_called_by_module = true;
      } else if (is_called_by_module && history.lines[line].is_own) {
        found = call;
        is_called_by_module = false;
      }
    }
    return known->second = found;
  }

  void add(const HistoryBlock& block, Caller& caller) {
    caller.blocks.push_back(&block);
    caller.sites.insert(block.site);
    caller.trained_blocks += has_gradient_in(block.begin, block.end) ? 1 : 0;
    if (!is_alive(block, moment_) || block.category == Category::workspace) return;
    if (block.end < device_.history().events) {
      caller.let_go_bytes += static_cast<std::int64_t>(block.bytes);
    }
    caller.alive_sites.insert(block.site);
    caller.alive_bytes += static_cast<std::int64_t>(block.bytes);
    ++caller.alive_blocks;
    caller.first_event = std::min(caller.first_event, block.begin);
  }

  /// Without gradients a model's call keeps a few of its results, the newest; or those of a few ops
  /// (keys and values).
  bool keeps_graph(const Caller& caller) const {
    constexpr std::int64_t kFewestBlocks = 6;
    constexpr std::int64_t kLeastShare = 4;
    return !trains(caller) && has_ended_once(caller) && caller.alive_blocks >= kFewestBlocks &&
           2 * caller.alive_sites.size() >= caller.sites.size() &&
           2 * caller.alive_bytes >= made_since(caller).bytes &&
           3 * caller.alive_blocks >= made_since(caller).blocks &&
           kLeastShare * caller.alive_bytes >= alive_bytes_;
  }

  /// Results are alive while gradients are made, of a call without a backward pass of its own:
  /// targets of a loss. So are many blocks of a call that is trained, or at least those of a good
  /// part of its sites: it may do more without gradients beside them.
  bool trains(const Caller& caller) const {
    if (3 * caller.trained_blocks > caller.blocks.size()) return true;
    std::unordered_map<std::uint32_t, EarlierBlocks> sites;
    for (const HistoryBlock* block : caller.blocks) {
      if (is_alive(*block, moment_)) continue;
      EarlierBlocks& site = sites[block->site];
      ++site.blocks;
      site.trained += has_gradient_in(block->begin, block->end) ? 1 : 0;
    }
    constexpr std::ptrdiff_t kMoreThanResults = 3;
    const std::ptrdiff_t trained = std::count_if(sites.begin(), sites.end(), [](const auto& one) {
      return one.second.trained > 0 && 3 * one.second.trained >= 2 * one.second.blocks;
    });
    return trained >= kMoreThanResults && 4 * trained >= std::ssize(sites);
  }

  /// A call that no backward pass followed: this one, or as much of earlier ones.
  static bool has_ended_once(const Caller& caller) {
    const auto earlier =
        std::count_if(caller.blocks.begin(), caller.blocks.end(),
                      [&](const HistoryBlock* block) { return block->begin < caller.first_event; });
    return 2 * caller.let_go_bytes >= caller.alive_bytes || earlier >= caller.alive_blocks;
  }

  struct Made {
    std::int64_t bytes = 0;
    std::int64_t blocks = 0;
  };

  /// Since the oldest of what is alive.
  static Made made_since(const Caller& caller) {
    Made made;
    for (const HistoryBlock* block : caller.blocks) {
      if (block->begin < caller.first_event) continue;
      made.bytes += static_cast<std::int64_t>(block->bytes);
      ++made.blocks;
    }
    return made;
  }

  FindingResult found(std::uint32_t line, const Caller& caller) const {
    const HistoryLine& place = device_.history().lines[line];
    FindingResult finding = device_.finding(
        "graphs without a backward pass", "missing_no_grad",
        fmt::format("{} of what the model made are kept as for a backward pass, and none followed "
                    "earlier calls of this line",
                    short_bytes(caller.alive_bytes)),
        {});
    finding.evidence.push_back({caller.first_event, caller.alive_bytes, caller.alive_blocks,
                                place.function, place.file, place.line});
    const bool has_name = !place.function.empty() && place.function[0] != '<';
    finding.summary = fmt::format("{} builds graphs that no backward pass uses: {} kept",
                                  has_name ? place.function + "()" : "the call of the model",
                                  short_bytes(caller.alive_bytes));
    return finding;
  }

  const SteppedDevice& device_;
  std::uint32_t moment_;
  std::int64_t alive_bytes_ = 0;
  std::vector<std::uint32_t> gradients_;  ///< events at which one was made, ascending
  std::unordered_map<std::uint32_t, std::uint32_t> calls_of_sites_;
  std::map<std::uint32_t, Caller> callers_;  ///< by call
};

}  // namespace

std::optional<FindingResult> inference_graph_finding(const SteppedDevice& device) {
  return InferenceGraphs(device).run();
}

}  // namespace ohm::reports
