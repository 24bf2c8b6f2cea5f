// Assumptions: what bytes rest on that was neither read from PyTorch nor recorded from it.
//
// Code that takes something for granted says so where it does, on the device whose bytes depend on
// it. Reports name what was said: without any assumption the figures are exact.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ohm {

enum class Assumption : std::uint8_t {
  cudnn_workspace,
  cudnn_batch_norm,
  cudnn_rnn_reserve,
  cudnn_ctc_workspace,
  ctc_target_length,
  lbfgs_curvature,
  cufft_workspace,
  curand_generator,
  cusolver_workspace,
  cusparse_workspace,
  cudnn_attention,
  sorting_scratch,
  kept_lt_workspace,
  process_context,
  passed_checks,
  generated_length,
  unknown_values,
  finite_values,
  assumed_selection,
  counted_classes,
};

/// No more fit into a set of them.
inline constexpr std::size_t kMostAssumptions = 64;

struct AssumptionInfo {
  Assumption assumption;
  std::string_view name;     ///< as reports show it
  std::string_view granted;  ///< what is taken for granted, in a sentence
};

/// The one table of them, in the order of the enumerators.
std::span<const AssumptionInfo> assumption_table();

class AssumptionSet {
 public:
  void add(Assumption assumption) { bits_ |= bit(assumption); }
  void add(const AssumptionSet& others) { bits_ |= others.bits_; }
  bool contains(Assumption assumption) const { return (bits_ & bit(assumption)) != 0; }

  /// In the order of the table.
  std::vector<std::string> names() const;

 private:
  static std::uint64_t bit(Assumption assumption) {
    return std::uint64_t{1} << static_cast<unsigned>(assumption);
  }

  std::uint64_t bits_ = 0;
};

}  // namespace ohm
