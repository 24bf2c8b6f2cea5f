// What programs hand to calls of graphs, and are handed back.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "allocator_shim/interpose/copies.h"
#include "allocator_shim/interpose/graph_nodes.h"
#include "allocator_shim/interpose/launch_limits.h"
#include "allocator_shim/interpose/objects.h"
#include "allocator_shim/interpose/volume_copy.h"

namespace ohm::interpose {

/// cudaKernelNodeParams. What the arguments point to is the program's.
struct KernelParameters {
  const void* function;
  Dimensions grid, block;
  unsigned shared_bytes;
  void** arguments;
  void** extra;
};

/// cudaMemcpyNodeParams.
struct VolumeCopyParameters {
  std::uint64_t flags;
  void* context;
  VolumeCopy copied;
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

/// cudaConditionalNodeParams, whose `bodies` are told.
struct ConditionParameters {
  enum class Type : int { branch, loop, choice };
  Condition* handle;
  Type type;
  unsigned size;
  Graph* const* bodies;
};

/// cudaGraphNodeParams.
struct NodeParameters {
  NodeType type;
  std::array<std::int32_t, 3> reserved;
  union {
    KernelParameters kernel;
    VolumeCopyParameters copy;
    FillParameters fill;
    HostParameters host;
    Graph* graph;
    Event* event;
    AllocationParameters allocation;
    void* freed;
    ConditionParameters condition;
  };

  /// Of a node of this type, which needs one member.
  template <typename Value>
  static NodeParameters of(NodeType type, Value NodeParameters::*member, const Value& value) {
    NodeParameters made = {};
    made.type = type;
    made.*member = value;
    return made;
  }
  static NodeParameters of(const KernelParameters& kernel) {
    return of(NodeType::kernel, &NodeParameters::kernel, kernel);
  }
  static NodeParameters of(const VolumeCopy& copied) {
    return of(NodeType::copy, &NodeParameters::copy, VolumeCopyParameters{0, nullptr, copied});
  }
  static NodeParameters of(const FillParameters& filled) {
    return of(NodeType::fill, &NodeParameters::fill, filled);
  }
  static NodeParameters of(const HostParameters& called) {
    return of(NodeType::host, &NodeParameters::host, called);
  }
};

/// A copy of a row, as a node has it.
VolumeCopy row_copy(void* to, const void* from, std::size_t bytes, int kind);

/// A copy to a variable of device code, or (`from` is nullptr) from it.
struct SymbolCopy {
  const void* symbol;
  std::size_t offset;
  const void* from;
  void* to;
  std::size_t bytes;
  int kind;
};
Status copy_of_symbol(VolumeCopy& copied, const SymbolCopy& wanted);

/// Whether a node can have them, but for memory and graphs.
Status check_parameters(const NodeParameters& parameters);
/// What a node with them does itself at a launch.
NodeWork work_of(const NodeParameters& parameters);

/// A node that is known, or captured and not known, gets other parameters of its type.
Status set_node(GraphNode* node, const NodeParameters& parameters);
/// The same in an executable graph: of the node that was instantiated.
Status set_executable_node(ExecutableGraph* executable, const GraphNode* node,
                           const NodeParameters& parameters);

/// cudaGraphInstantiateParams.
struct InstantiationParameters {
  enum class Result : int { success = 0, error = 1, invalid_structure = 2 };
  std::uint64_t flags;
  Stream* upload_stream;
  GraphNode* failed_node;
  Result result;
};

/// cudaGraphExecUpdateResultInfo.
struct UpdateResult {
  enum class Kind : int { success = 0, error = 1, topology_changed = 2, node_type_changed = 3 };
  Kind kind;
  GraphNode* node;
  GraphNode* source_node;
};

}  // namespace ohm::interpose
