// cuDNN's graph interface: descriptors that give back what was set, one engine for every graph of
// operations, and plans that need no workspace, but for attention's on a GPU where it was measured.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "allocator_shim/device/attention_workspace.h"
#include "allocator_shim/interpose/entry_call.h"
#include "allocator_shim/interpose/exported.h"
#include "allocator_shim/interpose/gpu_system.h"
#include "allocator_shim/interpose/objects.h"

using namespace ohm::interpose;

namespace {

// Numbers of cudnnBackendAttributeName_t.
constexpr int kHeuristicResults = 202;
constexpr int kConfigurationEngine = 300;
constexpr int kConfigurationWorkspace = 303;
constexpr int kConfigurationSharedMemory = 304;
constexpr int kPlanWorkspace = 402;
constexpr int kEngineCount = 802;
constexpr int kTensorSizes = 902;
constexpr int kEngineIndex = 1301;
constexpr int kAttentionQuery = 2800;
constexpr int kAttentionValue = 2802;
// Of cudnnBackendDescriptorType_t.
constexpr int kMatrixProduct = 19;
constexpr int kAttentionForward = 41;
// Of cudnnBackendAttributeType_t.
constexpr int kBackendDescriptor = 15;

/// Bytes of an element of cudnnBackendAttributeType_t.
std::size_t attribute_bytes(int type) {
  switch (type) {
    case 0:  // HANDLE
    case 3:  // INT64
    case 5:  // DOUBLE
    case 6:  // VOID_PTR
    case kBackendDescriptor:
    case 26:  // FRACTION
      return 8;
    case 2:   // BOOLEAN
    case 24:  // CHAR
      return 1;
    default:
      return 4;
  }
}

struct StoredAttribute {
  std::int64_t count;
  std::vector<std::byte> bytes;
};

using TensorSizes = std::array<std::int64_t, 4>;  // batch, heads, rows, columns

struct BackendDescriptor {
  std::map<int, StoredAttribute> attributes;
  TensorSizes sizes = {};  ///< of a tensor of four dimensions
  /// It is attention or a product of matrices, or is about a graph with one: PyTorch's graphs with
  /// products are those of attention.
  bool is_attention = false;
  std::optional<ohm::AttentionShape> forward;  ///< of attention, where it is about its forward pass

  void look_at(int name, const BackendDescriptor& part) {
    is_attention |= part.is_attention;
    if (part.forward) forward = part.forward;
    if (!forward) return;
    const auto [batch, heads, rows, columns] = part.sizes;
    if (name == kAttentionQuery) {
      forward->query_heads = batch * heads;
      forward->queries = rows;
    }
    if (name == kAttentionValue) {
      forward->value_heads = batch * heads;
      forward->keys = rows;
      forward->value_width = columns;
    }
  }
};

std::int64_t workspace_bytes(const BackendDescriptor& descriptor) {
  const ohm::GpuProfile& profile = gpus().profile();
  if (descriptor.is_attention && profile.has_measured_cudnn) {
    return static_cast<std::int64_t>(
        descriptor.forward
            ? ohm::attention_forward_workspace_bytes(*descriptor.forward, profile.multiprocessors)
            : ohm::kAttentionBackwardWorkspaceBytes);
  }
  note_assumption(descriptor.is_attention ? Assumption::cudnn_attention
                                          : Assumption::cudnn_workspace);
  return 0;
}

/// Defaults of attributes that a program did not set: one engine, number 0, and no shared memory.
/// nullopt: it has no value.
std::optional<std::int64_t> computed_value(const BackendDescriptor& descriptor, int name) {
  switch (name) {
    case kConfigurationWorkspace:
    case kPlanWorkspace:
      return workspace_bytes(descriptor);
    case kEngineIndex:
    case kConfigurationSharedMemory:
      return 0;
    case kEngineCount:
      return 1;
    default:
      return std::nullopt;
  }
}

/// Those that `elements` point to, as an array of descriptors.
std::span<BackendDescriptor* const> descriptors_in(const void* elements, std::int64_t count) {
  return {static_cast<BackendDescriptor* const*>(elements), static_cast<std::size_t>(count)};
}

}  // namespace

OHM_EXPORTED int cudnnBackendCreateDescriptor(int type, BackendDescriptor** descriptor) {
  OHM_LIBRARY_CALL(int);
  *descriptor = std::make_unique<BackendDescriptor>().release();
  (*descriptor)->is_attention = type == kMatrixProduct || type == kAttentionForward;
  if (type == kAttentionForward) (*descriptor)->forward.emplace();
  return kLibrarySuccess;
}

OHM_EXPORTED int cudnnBackendDestroyDescriptor(BackendDescriptor* descriptor) {
  OHM_LIBRARY_CALL(int);
  const std::unique_ptr<BackendDescriptor> owned(descriptor);
  return kLibrarySuccess;
}

OHM_EXPORTED int cudnnBackendSetAttribute(BackendDescriptor* descriptor, int name, int type,
                                          std::int64_t count, const void* elements) {
  OHM_LIBRARY_CALL(int);
  const auto* bytes = static_cast<const std::byte*>(elements);
  const std::size_t size = static_cast<std::size_t>(count) * attribute_bytes(type);
  descriptor->attributes[name] = {count, {bytes, bytes + size}};
  if (name == kTensorSizes && count == 4) {
    std::memcpy(descriptor->sizes.data(), bytes, sizeof descriptor->sizes);
  }
  if (type == kBackendDescriptor) {
    for (const BackendDescriptor* part : descriptors_in(elements, count)) {
      if (part != nullptr) descriptor->look_at(name, *part);
    }
  }
  return kLibrarySuccess;
}

OHM_EXPORTED int cudnnBackendGetAttribute(BackendDescriptor* descriptor, int name, int type,
                                          std::int64_t wanted, std::int64_t* count,
                                          void* elements) {
  OHM_LIBRARY_CALL(int);
  std::int64_t unused = 0;
  std::int64_t& found = count != nullptr ? *count : unused;
  // The caller has made the descriptors that these two fill in.
  if (name == kHeuristicResults || name == kConfigurationEngine) {
    found = 1;
    if (elements != nullptr && wanted > 0) {
      BackendDescriptor* const filled = descriptors_in(elements, 1).front();
      if (filled != nullptr) filled->look_at(name, *descriptor);
    }
    return kLibrarySuccess;
  }
  if (const std::optional<std::int64_t> value = computed_value(*descriptor, name)) {
    found = 1;
    if (elements != nullptr && wanted > 0) std::memcpy(elements, &*value, attribute_bytes(type));
    return kLibrarySuccess;
  }
  const auto set = descriptor->attributes.find(name);
  found = set == descriptor->attributes.end() ? 0 : set->second.count;
  if (found > 0 && elements != nullptr) {
    const auto size = static_cast<std::size_t>(std::min(found, wanted)) * attribute_bytes(type);
    std::memcpy(elements, set->second.bytes.data(), std::min(size, set->second.bytes.size()));
  }
  return kLibrarySuccess;
}
