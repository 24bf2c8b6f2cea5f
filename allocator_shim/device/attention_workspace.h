// Memory that plans of cuDNN's attention take for themselves on Hopper cards, beside what its
// frontend adds up: measured with cuDNN 9.19 on an H200, in half precision, for 1,061 calls with 64
// to 16,384 keys, and the same on an H100 where it was looked at.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ohm {

/// A call of attention.
struct AttentionShape {
  std::int64_t query_heads = 0;  ///< of all batch entries together
  std::int64_t value_heads = 0;  ///< fewer where several heads of queries share them
  std::int64_t queries = 0;
  std::int64_t keys = 0;
  std::int64_t value_width = 0;
};

/// One query among many keys is computed in parts that are put together then: float32 results and a
/// logarithm of each part. Other calls take what backward does.
std::size_t attention_forward_workspace_bytes(const AttentionShape& shape, int multiprocessors);

inline constexpr std::size_t kAttentionBackwardWorkspaceBytes = 256;

}  // namespace ohm
