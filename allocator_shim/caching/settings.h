// Settings of the allocator, as PYTORCH_CUDA_ALLOC_CONF spells them.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "allocator_shim/base/rule_set.h"
#include "allocator_shim/base/size_policy.h"

namespace ohm {

struct AllocatorSettings {
  static constexpr std::size_t kNoMaxSplitSize = std::numeric_limits<std::size_t>::max();
  static constexpr std::size_t kRoundupIntervals = std::tuple_size_v<RoundupDivisions>;

  std::string text;  ///< as it was written
  /// Blocks of this size and above are never split and only serve requests of this size and above.
  std::size_t max_split_size_bytes = kNoMaxSplitSize;
  /// A request of max_split_size and above takes a free block at most this much larger.
  std::size_t max_non_split_rounding_bytes = std::size_t{20} << 20U;
  double garbage_collection_threshold = 0;  ///< 0: off
  RoundupDivisions roundup_power2_divisions = {};
  bool expandable_segments = false;
  /// That a process starts with: CachingAllocator::set_memory_fraction().
  std::optional<double> memory_fraction;
  /// Read and shown; they change how PyTorch calls the driver, not what it allocates.
  bool release_lock_on_cudamalloc = false;
  bool pinned_use_cuda_host_register = false;
  bool pinned_use_background_threads = false;
  std::size_t pinned_num_register_threads = 1;

  friend bool operator==(const AllocatorSettings&, const AllocatorSettings&) = default;
};

/// The bytes that a block for this request has to have.
inline std::size_t round_request(std::size_t bytes, const AllocatorSettings& settings) {
  return round_request(bytes, settings.roundup_power2_divisions);
}

/// Reads PyTorch's own string, `key:value,key:value`. As PyTorch does it, settings that a new
/// string does not name start from their defaults, except expandable_segments,
/// max_non_split_rounding_mb and the settings without effect here, which stay as in `previous`.
/// Throws std::invalid_argument with PyTorch's words.
AllocatorSettings parse_settings(std::string_view text, const RuleSet& rules = default_rule_set(),
                                 const AllocatorSettings& previous = {});

}  // namespace ohm
