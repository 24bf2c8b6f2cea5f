#include "reports/history/recorded_categories.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <unordered_set>

namespace ohm::reports {

namespace {

/// `:4096:2:16:8`, which PyTorch asks for on GPUs before Hopper.
constexpr std::uint64_t kCublasWorkspaceBytes = (2 * 4096 + 8 * 16) * std::uint64_t{1024};

bool is_free(const TraceEntry& entry) { return entry.action == EventAction::free_requested; }

std::unordered_set<std::uint64_t> addresses_freed_of_workspace_size(
    const std::vector<TraceEntry>& trace) {
  std::unordered_set<std::uint64_t> addresses;
  for (const TraceEntry& entry : trace) {
    if (is_free(entry) && entry.bytes == kCublasWorkspaceBytes) addresses.insert(entry.address);
  }
  return addresses;
}

/// Follows the blocks of one trace that are allocated, the newest last.
class Lifetimes {
 public:
  /// Blocks that `is_passed_over(entry)` tells of are not followed.
  template <class Predicate>
  Lifetimes(const std::vector<TraceEntry>& trace, Predicate&& is_passed_over)
      : trace_(trace), freed_at_(trace.size(), kNever), is_scratch_(trace.size(), false) {
    for (std::size_t i = 0; i < trace.size(); ++i) {
      if (!is_passed_over(trace[i])) follow(i);
    }
    // What goes at the end of the record goes with everything else.
  }

  static constexpr auto kNever = static_cast<std::size_t>(-1);

  /// Whether it was freed, with what was allocated after it, before anything else was allocated
  /// under another stack.
  bool is_scratch(std::size_t i) const { return is_scratch_[i]; }

  /// The entry that frees what this one allocates, or kNever.
  std::size_t freed_at(std::size_t i) const { return freed_at_[i]; }

 private:
  void follow(std::size_t i) {
    const TraceEntry& entry = trace_[i];
    if (entry.action == EventAction::alloc) {
      end_frees();
      if (entry.stack != stack_) begin_of_stack_ = i;
      stack_ = entry.stack;
      live_[entry.address] = i;
      newest_.push_back(i);
    } else if (is_free(entry)) {
      const auto found = live_.find(entry.address);
      if (found == live_.end()) return;
      freed_at_[found->second] = i;
      freed_now_.insert(found->second);
      live_.erase(found);
    } else if (entry.action == EventAction::oom) {
      begin_of_stack_ = i;  // the error frees what it passes
    }
  }

  /// Blocks that die one after the other die together: destructors have their own order.
  void end_frees() {
    if (freed_now_.empty()) return;
    while (!newest_.empty() && freed_at_[newest_.back()] != kNever) {
      const std::size_t i = newest_.back();
      is_scratch_[i] = freed_now_.contains(i) && i >= begin_of_stack_;
      newest_.pop_back();
    }
    freed_now_.clear();
  }

  const std::vector<TraceEntry>& trace_;
  std::vector<std::size_t> freed_at_;
  std::vector<bool> is_scratch_;
  std::unordered_map<std::uint64_t, std::size_t> live_;  ///< address -> its allocation
  std::vector<std::size_t> newest_;                      ///< allocations, live ones and dead below
  std::unordered_set<std::size_t> freed_now_;            ///< since the last allocation
  StackId stack_ = kNoStack;                             ///< of the last allocation
  std::size_t begin_of_stack_ = 0;                       ///< the first of those that share it
};

class Classifier {
 public:
  Classifier(const Snapshot& snapshot, std::size_t device, RecordedSites& sites)
      : snapshot_(snapshot),
        trace_(snapshot.device_traces[device]),
        sites_(sites),
        freed_addresses_(addresses_freed_of_workspace_size(trace_)),
        lifetimes_(trace_, [this](const TraceEntry& entry) { return is_kept_workspace(entry); }) {
    for (std::size_t i = 0; i < trace_.size(); ++i) {
      const TraceEntry& entry = trace_[i];
      if (entry.action != EventAction::alloc) continue;
      if (named(entry) == Category::parameter) parameter_sizes_.insert(entry.bytes);
      const std::size_t freed = lifetimes_.freed_at(i);
      if (freed != Lifetimes::kNever && trace_[freed].stack != entry.stack) {
        frees_have_stacks_ = true;
      }
    }
  }

  std::vector<Category> categories() const {
    std::vector<Category> found(trace_.size(), Category::other);
    for (std::size_t i = 0; i < trace_.size(); ++i) {
      if (trace_[i].action == EventAction::alloc) found[i] = category_of(i);
    }
    return found;
  }

 private:
  std::optional<Category> named(const TraceEntry& entry) const {
    return named_category(snapshot_.tables.text(snapshot_.detail(entry).category));
  }

  /// By cuBLAS, beyond the op that it is made in.
  bool is_kept_workspace(const TraceEntry& entry) const {
    if (entry.action != EventAction::alloc) return false;
    const auto name = named(entry);
    if (name) return *name == Category::workspace;
    return entry.bytes == kCublasWorkspaceBytes && !freed_addresses_.contains(entry.address);
  }

  Category category_of(std::size_t i) const {
    const TraceEntry& entry = trace_[i];
    if (is_kept_workspace(entry)) return Category::workspace;
    if (const auto name = named(entry)) return *name;
    const Category told = sites_.category_of(sites_.of(entry.stack));
    if (lifetimes_.is_scratch(i) && may_have_scratch(i, told)) return Category::workspace;
    const bool is_saved = told == Category::other && is_freed_by_autograd(i);
    return is_saved ? Category::activation : told;
  }

  /// Of what is scratch by its life. An optimizer's temporaries are its own. A gradient that is
  /// accumulated dies as scratch does, and so do those of all parameters where nothing else is
  /// allocated before they go: their sizes tell them apart. A line of the program's own may hold
  /// many ops.
  bool may_have_scratch(std::size_t i, Category told) const {
    const TraceEntry& entry = trace_[i];
    if (entry.bytes == kCublasWorkspaceBytes) return true;
    if (told == Category::gradient) {
      return !parameter_sizes_.empty() && !parameter_sizes_.contains(entry.bytes);
    }
    if (told != Category::activation && told != Category::other) return false;
    if (frees_have_stacks_) return trace_[lifetimes_.freed_at(i)].stack == entry.stack;
    return sites_.is_within_library(entry.stack);
  }

  bool is_freed_by_autograd(std::size_t i) const {
    const std::size_t freed = lifetimes_.freed_at(i);
    return frees_have_stacks_ && freed != Lifetimes::kNever && trace_[freed].stack == kNoStack;
  }

  const Snapshot& snapshot_;
  const std::vector<TraceEntry>& trace_;
  RecordedSites& sites_;
  std::unordered_set<std::uint64_t> freed_addresses_;  ///< of blocks of a workspace's size
  Lifetimes lifetimes_;
  bool frees_have_stacks_ = false;  ///< of their own; else they repeat that of the allocation
  std::unordered_set<std::uint64_t> parameter_sizes_;
};

}  // namespace

std::optional<Category> named_category(std::string_view text) {
  const auto* const known = std::find(kCategoryNames.begin(), kCategoryNames.end(), text);
  if (known == kCategoryNames.end()) return std::nullopt;
  return static_cast<Category>(known - kCategoryNames.begin());
}

std::vector<Category> recorded_categories(const Snapshot& snapshot, std::size_t device,
                                          RecordedSites& sites) {
  return Classifier(snapshot, device, sites).categories();
}

}  // namespace ohm::reports
