// CUDA's runtime: what nodes of graphs were given, and other parameters for them, in a graph or in
// what was instantiated of it.
#include <cstddef>
#include <cstdint>

#include "allocator_shim/interpose/entry_call.h"
#include "allocator_shim/interpose/exported.h"
#include "allocator_shim/interpose/graph_parameters.h"
#include "allocator_shim/interpose/objects.h"
#include "allocator_shim/interpose/status.h"
#include "allocator_shim/interpose/stub.h"
#include "allocator_shim/interpose/volume_copy.h"

using namespace ohm::interpose;

namespace {

bool is_node_of_type(const GraphNode* node, NodeType type) {
  return graph_nodes().is_alive(node) && node->type == type;
}

/// What a program gave a node of this type. What a capture recorded is not known: how many
/// arguments a kernel has is in its code.
template <typename Value>
Status tell_parameters(const char* name, const GraphNode* node, NodeType type,
                       Value NodeParameters::*member, Value* told) {
  if (!is_node_of_type(node, type) || told == nullptr) return noted(Status::invalid_value);
  if (node->given == nullptr) {
    report_unsupported(name);
    return noted(Status::not_supported);
  }
  *told = (*node->given).*member;
  return Status::success;
}

template <typename Parameters>
Status set_given(GraphNode* node, const Parameters* parameters) {
  if (parameters == nullptr) return noted(Status::invalid_value);
  return noted(set_node(node, NodeParameters::of(*parameters)));
}

template <typename Parameters>
Status set_executable(ExecutableGraph* executable, const GraphNode* node,
                      const Parameters* parameters) {
  if (parameters == nullptr) return noted(Status::invalid_value);
  return noted(set_executable_node(executable, node, NodeParameters::of(*parameters)));
}

NodeParameters with_event(NodeType type, Event* event) {
  return NodeParameters::of(type, &NodeParameters::event, event);
}

/// nullptr: there is no such graph, or node of it.
ExecutableGraph::Node* executable_node(ExecutableGraph* executable, const GraphNode* node) {
  return executable_graphs().is_alive(executable) ? executable->node_of(node) : nullptr;
}

bool can_be_disabled(NodeType type) {
  return type == NodeType::kernel || type == NodeType::copy || type == NodeType::fill;
}

}  // namespace

OHM_EXPORTED Status cudaGraphKernelNodeGetParams(const GraphNode* node,
                                                 KernelParameters* parameters) {
  OHM_RUNTIME_CALL;
  return tell_parameters(__func__, node, NodeType::kernel, &NodeParameters::kernel, parameters);
}

OHM_EXPORTED Status cudaGraphKernelNodeSetParams(GraphNode* node,
                                                 const KernelParameters* parameters) {
  OHM_RUNTIME_CALL;
  return set_given(node, parameters);
}

OHM_EXPORTED Status cudaGraphExecKernelNodeSetParams(ExecutableGraph* executable,
                                                     const GraphNode* node,
                                                     const KernelParameters* parameters) {
  OHM_RUNTIME_CALL;
  return set_executable(executable, node, parameters);
}

OHM_EXPORTED Status cudaGraphMemcpyNodeGetParams(const GraphNode* node, VolumeCopy* copied) {
  OHM_RUNTIME_CALL;
  VolumeCopyParameters told = {};
  const Status status =
      tell_parameters(__func__, node, NodeType::copy, &NodeParameters::copy, &told);
  if (status != Status::success) return status;
  if (copied == nullptr) return noted(Status::invalid_value);
  *copied = told.copied;
  return Status::success;
}

OHM_EXPORTED Status cudaGraphMemcpyNodeSetParams(GraphNode* node, const VolumeCopy* copied) {
  OHM_RUNTIME_CALL;
  return set_given(node, copied);
}

OHM_EXPORTED Status cudaGraphMemcpyNodeSetParams1D(GraphNode* node, void* to, const void* from,
                                                   std::size_t bytes, int kind) {
  OHM_RUNTIME_CALL;
  const VolumeCopy copied = row_copy(to, from, bytes, kind);
  return set_given(node, &copied);
}

OHM_EXPORTED Status cudaGraphMemcpyNodeSetParamsToSymbol(GraphNode* node, const void* symbol,
                                                         const void* from, std::size_t bytes,
                                                         std::size_t offset, int kind) {
  OHM_RUNTIME_CALL;
  VolumeCopy copied = {};
  const Status status = copy_of_symbol(copied, {symbol, offset, from, nullptr, bytes, kind});
  return status == Status::success ? set_given(node, &copied) : noted(status);
}

OHM_EXPORTED Status cudaGraphMemcpyNodeSetParamsFromSymbol(GraphNode* node, void* to,
                                                           const void* symbol, std::size_t bytes,
                                                           std::size_t offset, int kind) {
  OHM_RUNTIME_CALL;
  VolumeCopy copied = {};
  const Status status = copy_of_symbol(copied, {symbol, offset, nullptr, to, bytes, kind});
  return status == Status::success ? set_given(node, &copied) : noted(status);
}

OHM_EXPORTED Status cudaGraphExecMemcpyNodeSetParams(ExecutableGraph* executable,
                                                     const GraphNode* node,
                                                     const VolumeCopy* copied) {
  OHM_RUNTIME_CALL;
  return set_executable(executable, node, copied);
}

OHM_EXPORTED Status cudaGraphExecMemcpyNodeSetParams1D(ExecutableGraph* executable,
                                                       const GraphNode* node, void* to,
                                                       const void* from, std::size_t bytes,
                                                       int kind) {
  OHM_RUNTIME_CALL;
  const VolumeCopy copied = row_copy(to, from, bytes, kind);
  return set_executable(executable, node, &copied);
}

OHM_EXPORTED Status cudaGraphExecMemcpyNodeSetParamsToSymbol(ExecutableGraph* executable,
                                                             const GraphNode* node,
                                                             const void* symbol, const void* from,
                                                             std::size_t bytes, std::size_t offset,
                                                             int kind) {
  OHM_RUNTIME_CALL;
  VolumeCopy copied = {};
  const Status status = copy_of_symbol(copied, {symbol, offset, from, nullptr, bytes, kind});
  return status == Status::success ? set_executable(executable, node, &copied) : noted(status);
}

OHM_EXPORTED Status cudaGraphExecMemcpyNodeSetParamsFromSymbol(ExecutableGraph* executable,
                                                               const GraphNode* node, void* to,
                                                               const void* symbol,
                                                               std::size_t bytes,
                                                               std::size_t offset, int kind) {
  OHM_RUNTIME_CALL;
  VolumeCopy copied = {};
  const Status status = copy_of_symbol(copied, {symbol, offset, nullptr, to, bytes, kind});
  return status == Status::success ? set_executable(executable, node, &copied) : noted(status);
}

OHM_EXPORTED Status cudaGraphMemsetNodeGetParams(const GraphNode* node,
                                                 FillParameters* parameters) {
  OHM_RUNTIME_CALL;
  return tell_parameters(__func__, node, NodeType::fill, &NodeParameters::fill, parameters);
}

OHM_EXPORTED Status cudaGraphMemsetNodeSetParams(GraphNode* node,
                                                 const FillParameters* parameters) {
  OHM_RUNTIME_CALL;
  return set_given(node, parameters);
}

OHM_EXPORTED Status cudaGraphExecMemsetNodeSetParams(ExecutableGraph* executable,
                                                     const GraphNode* node,
                                                     const FillParameters* parameters) {
  OHM_RUNTIME_CALL;
  return set_executable(executable, node, parameters);
}

OHM_EXPORTED Status cudaGraphHostNodeGetParams(const GraphNode* node, HostParameters* parameters) {
  OHM_RUNTIME_CALL;
  return tell_parameters(__func__, node, NodeType::host, &NodeParameters::host, parameters);
}

OHM_EXPORTED Status cudaGraphHostNodeSetParams(GraphNode* node, const HostParameters* parameters) {
  OHM_RUNTIME_CALL;
  return set_given(node, parameters);
}

OHM_EXPORTED Status cudaGraphExecHostNodeSetParams(ExecutableGraph* executable,
                                                   const GraphNode* node,
                                                   const HostParameters* parameters) {
  OHM_RUNTIME_CALL;
  return set_executable(executable, node, parameters);
}

OHM_EXPORTED Status cudaGraphEventRecordNodeGetEvent(const GraphNode* node, Event** event) {
  OHM_RUNTIME_CALL;
  return tell_parameters(__func__, node, NodeType::event_record, &NodeParameters::event, event);
}

OHM_EXPORTED Status cudaGraphEventRecordNodeSetEvent(GraphNode* node, Event* event) {
  OHM_RUNTIME_CALL;
  return noted(set_node(node, with_event(NodeType::event_record, event)));
}

OHM_EXPORTED Status cudaGraphExecEventRecordNodeSetEvent(ExecutableGraph* executable,
                                                         const GraphNode* node, Event* event) {
  OHM_RUNTIME_CALL;
  return noted(set_executable_node(executable, node, with_event(NodeType::event_record, event)));
}

OHM_EXPORTED Status cudaGraphEventWaitNodeGetEvent(const GraphNode* node, Event** event) {
  OHM_RUNTIME_CALL;
  return tell_parameters(__func__, node, NodeType::event_wait, &NodeParameters::event, event);
}

OHM_EXPORTED Status cudaGraphEventWaitNodeSetEvent(GraphNode* node, Event* event) {
  OHM_RUNTIME_CALL;
  return noted(set_node(node, with_event(NodeType::event_wait, event)));
}

OHM_EXPORTED Status cudaGraphExecEventWaitNodeSetEvent(ExecutableGraph* executable,
                                                       const GraphNode* node, Event* event) {
  OHM_RUNTIME_CALL;
  return noted(set_executable_node(executable, node, with_event(NodeType::event_wait, event)));
}

OHM_EXPORTED Status cudaGraphMemAllocNodeGetParams(const GraphNode* node,
                                                   AllocationParameters* parameters) {
  OHM_RUNTIME_CALL;
  return tell_parameters(__func__, node, NodeType::allocation, &NodeParameters::allocation,
                         parameters);
}

OHM_EXPORTED Status cudaGraphMemFreeNodeGetParams(const GraphNode* node, void** pointer) {
  OHM_RUNTIME_CALL;
  return tell_parameters(__func__, node, NodeType::free, &NodeParameters::freed, pointer);
}

/// The node's own, which it keeps.
OHM_EXPORTED Status cudaGraphChildGraphNodeGetGraph(const GraphNode* node, Graph** child) {
  OHM_RUNTIME_CALL;
  if (!is_node_of_type(node, NodeType::graph) || child == nullptr) {
    return noted(Status::invalid_value);
  }
  if (node->bodies.empty()) {
    report_unsupported(__func__);
    return noted(Status::not_supported);
  }
  *child = node->bodies.front();
  return Status::success;
}

/// A graph of the same nodes.
OHM_EXPORTED Status cudaGraphExecChildGraphNodeSetParams(ExecutableGraph* executable,
                                                         const GraphNode* node, Graph* child) {
  OHM_RUNTIME_CALL;
  ExecutableGraph::Node* const known = executable_node(executable, node);
  const bool is_right = known != nullptr && known->body != nullptr && graphs().is_alive(child) &&
                        known->body->update(*child).kind == UpdateResult::Kind::success;
  return is_right ? Status::success : noted(Status::invalid_value);
}

/// Of kernels, copies, fills, host functions and events.
OHM_EXPORTED Status cudaGraphNodeSetParams(GraphNode* node, const NodeParameters* parameters) {
  OHM_RUNTIME_CALL;
  if (parameters == nullptr) return noted(Status::invalid_value);
  return noted(set_node(node, *parameters));
}

OHM_EXPORTED Status cudaGraphExecNodeSetParams(ExecutableGraph* executable, const GraphNode* node,
                                               const NodeParameters* parameters) {
  OHM_RUNTIME_CALL;
  if (parameters == nullptr) return noted(Status::invalid_value);
  return noted(set_executable_node(executable, node, *parameters));
}

/// Of kernels, copies and fills.
OHM_EXPORTED Status cudaGraphNodeSetEnabled(ExecutableGraph* executable, const GraphNode* node,
                                            unsigned is_enabled) {
  OHM_RUNTIME_CALL;
  auto* const known = executable_node(executable, node);
  if (known == nullptr || !can_be_disabled(known->type)) return noted(Status::invalid_value);
  known->is_enabled = is_enabled != 0;
  return Status::success;
}

OHM_EXPORTED Status cudaGraphNodeGetEnabled(ExecutableGraph* executable, const GraphNode* node,
                                            unsigned* is_enabled) {
  OHM_RUNTIME_CALL;
  const auto* const known = executable_node(executable, node);
  const bool is_right = known != nullptr && can_be_disabled(known->type) && is_enabled != nullptr;
  if (!is_right) return noted(Status::invalid_value);
  *is_enabled = known->is_enabled ? 1 : 0;
  return Status::success;
}

namespace {

/// cudaLaunchAttributeID.
constexpr int kKernelAttributes = 19;

bool is_kernel_attribute(int attribute) { return attribute > 0 && attribute < kKernelAttributes; }

}  // namespace

/// Zeros, until one is set.
OHM_EXPORTED Status cudaGraphKernelNodeGetAttribute(const GraphNode* node, int attribute,
                                                    LaunchAttributeValue* value) {
  OHM_RUNTIME_CALL;
  const bool is_right =
      is_node_of_type(node, NodeType::kernel) && value != nullptr && is_kernel_attribute(attribute);
  if (!is_right) return noted(Status::invalid_value);
  const auto found = node->attributes.find(attribute);
  *value = found != node->attributes.end() ? found->second : LaunchAttributeValue{};
  return Status::success;
}

OHM_EXPORTED Status cudaGraphKernelNodeSetAttribute(GraphNode* node, int attribute,
                                                    const LaunchAttributeValue* value) {
  OHM_RUNTIME_CALL;
  const bool is_right =
      is_node_of_type(node, NodeType::kernel) && value != nullptr && is_kernel_attribute(attribute);
  if (!is_right) return noted(Status::invalid_value);
  node->attributes[attribute] = *value;
  return Status::success;
}

/// The runtime and the driver name the target first.
OHM_EXPORTED Status cudaGraphKernelNodeCopyAttributes(GraphNode* to, const GraphNode* from) {
  OHM_RUNTIME_CALL;
  const bool is_right =
      is_node_of_type(to, NodeType::kernel) && is_node_of_type(from, NodeType::kernel);
  if (!is_right) return noted(Status::invalid_value);
  to->attributes = from->attributes;
  return Status::success;
}
