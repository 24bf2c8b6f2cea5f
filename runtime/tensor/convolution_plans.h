// The convolutions that a program has computed so far, as far as cuDNN's benchmark mode depends on
// it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "runtime/tensor/library_handles.h"

namespace ohm {

/// What tells one convolution from another: its device, what is computed, dtype and sizes, and
/// whether it has to be deterministic.
using ConvolutionKey = std::array<std::int64_t, 26>;

/// How an algorithm was chosen: the one that cuDNN suggests, or the one that was the fastest when
/// all were tried.
enum class ConvolutionPlan : std::uint8_t { suggested, measured };

/// PyTorch keeps a plan for each convolution, and each thread has its own.
class ConvolutionPlans {
 public:
  bool is_benchmark = false;  ///< torch.backends.cudnn.benchmark
  /// torch.backends.cudnn.deterministic, which is false there: here values are compared by their
  /// bits.
  bool is_deterministic = true;

  /// Of a convolution that has none yet.
  ConvolutionPlan next() const {
    return is_benchmark ? ConvolutionPlan::measured : ConvolutionPlan::suggested;
  }
  std::optional<ConvolutionPlan> find(ExecutionThread thread, const ConvolutionKey& key) const {
    const auto found = known_.find({thread, key});
    if (found == known_.end()) return std::nullopt;
    return found->second;
  }
  void keep(ExecutionThread thread, const ConvolutionKey& key, ConvolutionPlan plan) {
    known_.emplace(std::pair(thread, key), plan);
  }
  /// Calls visit(thread, key, plan) for each that is known, in an order that is always the same.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (const auto& [of, plan] : known_) visit(of.first, of.second, plan);
  }
  void forget_all() { known_.clear(); }
  /// The thread has ended.
  void forget(ExecutionThread thread) {
    known_.erase(known_.lower_bound({thread, smallest_key()}),
                 known_.lower_bound({after(thread), smallest_key()}));
  }

 private:
  static ConvolutionKey smallest_key() {
    ConvolutionKey key;
    key.fill(INT64_MIN);
    return key;
  }
  static ExecutionThread after(ExecutionThread thread) {
    return static_cast<ExecutionThread>(static_cast<std::uint32_t>(thread) + 1);
  }

  std::map<std::pair<ExecutionThread, ConvolutionKey>, ConvolutionPlan> known_;
};

}  // namespace ohm
