// What programs hand to calls of graphs, and are handed back.
#pragma once

#include "allocator_shim/interpose/graph_nodes.h"
#include "allocator_shim/interpose/launch_limits.h"
#include "allocator_shim/interpose/objects.h"

namespace ohm::interpose {

/// The beginning of cudaKernelNodeParams.
struct KernelParameters {
  const void* function;
  Dimensions grid, block;
  unsigned shared_bytes;
};

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
