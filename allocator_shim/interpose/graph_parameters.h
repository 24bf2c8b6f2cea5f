// What programs hand to calls of graphs, and are handed back.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "allocator_shim/interpose/copies.h"
#include "allocator_shim/interpose/graph_nodes.h"
#include "allocator_shim/interpose/launch_limits.h"
#include "allocator_shim/interpose/objects.h"

namespace ohm::interpose {

/// cudaKernelNodeParams. What the arguments point to is the program's.
struct KernelParameters {
  const void* function;
  Dimensions grid, block;
  unsigned shared_bytes;
  void** arguments;
  void** extra;
};

/// cudaMemsetParams.
struct FillParameters {
  std::byte* to;
  std::size_t pitch;
  unsigned value, element_bytes;
  std::size_t width, height;

  bool is_possible() const {
    const bool is_element = element_bytes == 1 || element_bytes == 2 || element_bytes == 4;
    return to != nullptr && is_element && width > 0;
  }
  void fill_all() const {
    for (std::size_t row = 0; row < height; ++row) {
      std::byte* const first = to + row * pitch;
      if (element_bytes == 1) fill(first, static_cast<int>(value), width);
      if (element_bytes == 2) {
        fill_words(reinterpret_cast<std::uint16_t*>(first), static_cast<std::uint16_t>(value),
                   width);
      }
      if (element_bytes == 4) fill_words(reinterpret_cast<std::uint32_t*>(first), value, width);
    }
  }
};

/// cudaMemAllocNodeParams.
struct AllocationParameters {
  int allocation_type, handle_types, location_type, device;
  std::array<std::uint64_t, 9> properties;
  const void* access;
  std::size_t access_count, bytes;
  void* pointer;
};
static_assert(sizeof(AllocationParameters) == 120);

/// cudaHostNodeParams.
struct HostParameters {
  HostFunction function;
  void* data;
};

/// cudaGraphExecUpdateResultInfo.
struct UpdateResult {
  enum class Kind : int { success = 0, error = 1, topology_changed = 2 } kind;
  GraphNode* node;
  GraphNode* source_node;
};

}  // namespace ohm::interpose
