// cuDNN's graph interface: descriptors that give back what was set, one engine for every graph of
// operations, and plans that need no workspace.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

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
constexpr int kEngineIndex = 1301;

/// Bytes of an element of cudnnBackendAttributeType_t.
std::size_t attribute_bytes(int type) {
  switch (type) {
    case 0:   // HANDLE
    case 3:   // INT64
    case 5:   // DOUBLE
    case 6:   // VOID_PTR
    case 15:  // BACKEND_DESCRIPTOR
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

struct BackendDescriptor {
  std::map<int, StoredAttribute> attributes;
};

/// What a program asks and nobody has set: one engine, number 0, without workspace or shared
/// memory. nullptr: it has no value.
const std::int64_t* computed_value(int name) {
  static constexpr std::int64_t kZero = 0;
  static constexpr std::int64_t kOne = 1;
  switch (name) {
    case kConfigurationWorkspace:
    case kPlanWorkspace:
      note_assumption(Assumption::cudnn_workspace);
      return &kZero;
    case kEngineIndex:
    case kConfigurationSharedMemory:
      return &kZero;
    case kEngineCount:
      return &kOne;
    default:
      return nullptr;
  }
}

}  // namespace

OHM_EXPORTED int cudnnBackendCreateDescriptor(int /*type*/, BackendDescriptor** descriptor) {
  *descriptor = std::make_unique<BackendDescriptor>().release();
  return kLibrarySuccess;
}

OHM_EXPORTED int cudnnBackendDestroyDescriptor(BackendDescriptor* descriptor) {
  const std::unique_ptr<BackendDescriptor> owned(descriptor);
  return kLibrarySuccess;
}

OHM_EXPORTED int cudnnBackendSetAttribute(BackendDescriptor* descriptor, int name, int type,
                                          std::int64_t count, const void* elements) {
  const auto* bytes = static_cast<const std::byte*>(elements);
  const std::size_t size = static_cast<std::size_t>(count) * attribute_bytes(type);
  descriptor->attributes[name] = {count, {bytes, bytes + size}};
  return kLibrarySuccess;
}

OHM_EXPORTED int cudnnBackendGetAttribute(BackendDescriptor* descriptor, int name, int type,
                                          std::int64_t wanted, std::int64_t* count,
                                          void* elements) {
  std::int64_t unused = 0;
  std::int64_t& found = count != nullptr ? *count : unused;
  // The caller has made the descriptors that these two fill in.
  if (name == kHeuristicResults || name == kConfigurationEngine) {
    found = 1;
    return kLibrarySuccess;
  }
  if (const std::int64_t* value = computed_value(name)) {
    found = 1;
    if (elements != nullptr && wanted > 0) std::memcpy(elements, value, attribute_bytes(type));
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
