#include "allocator_shim/interpose/graph_parameters.h"

#include <memory>

#include "allocator_shim/interpose/device_variables.h"
#include "allocator_shim/interpose/modules.h"
#include "allocator_shim/interpose/registered_kernels.h"
#include "allocator_shim/interpose/work_in_flight.h"

namespace ohm::interpose {
namespace {

Status check_kernel(const KernelParameters& parameters) {
  const bool is_known = is_registered(parameters.function) ||
                        is_kernel(static_cast<const Kernel*>(parameters.function));
  if (!is_known) return Status::invalid_device_function;
  return check_launch(LaunchApi::runtime, parameters.grid, parameters.block,
                      parameters.shared_bytes);
}

Status check_volume(const VolumeCopy& copied) {
  if (!copied.is_whole()) return Status::invalid_value;
  const bool is_direction = copied.kind >= 0 && copied.kind <= static_cast<int>(Direction::unified);
  return is_direction ? Status::success : Status::invalid_copy_direction;
}

Status valid_if(bool is_right) { return is_right ? Status::success : Status::invalid_value; }

/// Of nodes that get other ones.
bool can_be_set(NodeType type) {
  return type == NodeType::kernel || type == NodeType::copy || type == NodeType::fill ||
         type == NodeType::host || type == NodeType::event_record || type == NodeType::event_wait;
}

void record_in_graph(Event* event) {
  if (!events().is_alive(event)) return;
  event->capture = nullptr;
  event->is_recorded = true;
  note_recorded(*event, nullptr);
}

}  // namespace

VolumeCopy row_copy(void* to, const void* from, std::size_t bytes, int kind) {
  VolumeCopy made = {};
  made.from = {const_cast<void*>(from), bytes, bytes, 1};
  made.to = {to, bytes, bytes, 1};
  made.extent = {bytes, 1, 1};
  made.kind = kind;
  return made;
}

Status copy_of_symbol(VolumeCopy& copied, const SymbolCopy& wanted) {
  const auto variable = find_variable(wanted.symbol);
  if (!variable) return Status::invalid_symbol;
  const bool fits =
      wanted.offset <= variable->bytes && wanted.bytes <= variable->bytes - wanted.offset;
  if (!fits) return Status::invalid_value;
  std::byte* const part = variable->address + wanted.offset;
  const bool is_to_symbol = wanted.from != nullptr;
  const auto way = static_cast<Direction>(wanted.kind);
  const auto backwards = is_to_symbol ? Direction::device_to_host : Direction::host_to_device;
  if (way == Direction::host_to_host || way == backwards) return Status::invalid_copy_direction;
  copied = is_to_symbol ? row_copy(part, wanted.from, wanted.bytes, wanted.kind)
                        : row_copy(wanted.to, part, wanted.bytes, wanted.kind);
  return Status::success;
}

Status check_parameters(const NodeParameters& parameters) {
  switch (parameters.type) {
    case NodeType::kernel:
      return check_kernel(parameters.kernel);
    case NodeType::copy:
      return check_volume(parameters.copy.copied);
    case NodeType::fill:
      return valid_if(parameters.fill.is_possible());
    case NodeType::host:
      return valid_if(parameters.host.function != nullptr);
    case NodeType::event_record:
    case NodeType::event_wait:
      return valid_if(events().is_alive(parameters.event));
    default:
      return Status::success;
  }
}

NodeWork work_of(const NodeParameters& parameters) {
  switch (parameters.type) {
    case NodeType::copy:
      return
          [copied = parameters.copy.copied] { copied.copy(static_cast<Direction>(copied.kind)); };
    case NodeType::fill:
      return [filled = parameters.fill] { filled.fill_all(); };
    case NodeType::host:
      return [called = parameters.host] { call_host_function(called.function, called.data); };
    case NodeType::event_record:
      return [event = parameters.event] { record_in_graph(event); };
    default:
      return {};
  }
}

Status set_node(GraphNode* node, const NodeParameters& parameters) {
  if (!graph_nodes().is_alive(node) || node->type != parameters.type) return Status::invalid_value;
  if (!can_be_set(node->type)) return Status::invalid_value;
  const Status status = check_parameters(parameters);
  if (status != Status::success) return status;
  node->given = std::make_shared<NodeParameters>(parameters);
  node->work = work_of(parameters);
  return Status::success;
}

Status set_executable_node(ExecutableGraph* executable, const GraphNode* node,
                           const NodeParameters& parameters) {
  if (!executable_graphs().is_alive(executable)) return Status::invalid_value;
  ExecutableGraph::Node* const known = executable->node_of(node);
  if (known == nullptr || known->type != parameters.type) return Status::invalid_value;
  if (!can_be_set(known->type)) return Status::invalid_value;
  const Status status = check_parameters(parameters);
  if (status == Status::success) known->work = work_of(parameters);
  return status;
}

}  // namespace ohm::interpose
