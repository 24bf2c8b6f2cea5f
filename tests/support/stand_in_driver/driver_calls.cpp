// The driver itself, its cards and their contexts.
#include <cstring>
#include <memory>
#include <string>

#include "tests/support/stand_in_driver/driver_objects.h"

namespace ohm::stand_in::driver {

namespace {

CudaDevice* card_of(DeviceHandle device) {
  Machine& now = machine();
  const bool exists = device >= 0 && device < static_cast<int>(now.cards.size());
  return exists ? &now.cards[static_cast<std::size_t>(device)] : nullptr;
}

Result copy_text(const std::string& text, char* to, int room) {
  if (static_cast<int>(text.size()) >= room) return kInvalidValue;
  std::memcpy(to, text.c_str(), text.size() + 1);
  return kSuccess;
}

}  // namespace

// ---- the driver and its cards -------------------------------------------------------------------

Result init(unsigned flags) {
  Machine& now = machine();
  if (const int error = now.begin("cuInit", false)) return error;
  if (flags != 0) return now.wrong("cuInit with flags");
  if (now.devices == 0) return kNoDevice;
  now.is_initialized = true;
  while (static_cast<int>(now.cards.size()) < now.devices) {
    now.cards.emplace_back(static_cast<int>(now.cards.size()));
  }
  return kSuccess;
}

Result driver_version(int* version) {
  *version = machine().version;
  return kSuccess;
}

Result error_name(Result code, const char** name) {
  *name = code == kIllegalAddress ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "CUDA_ERROR_STAND_IN";
  return kSuccess;
}

Result error_text(Result code, const char** text) {
  *text = code == kIllegalAddress ? "an illegal memory access was encountered" : "as it was told";
  return kSuccess;
}

Result device_count(int* count) {
  *count = machine().devices;
  return machine().is_initialized ? kSuccess : kNotInitialized;
}

Result device_get(DeviceHandle* device, int ordinal) {
  if (card_of(ordinal) == nullptr) return machine().wrong("cuDeviceGet of no card");
  *device = ordinal;
  return kSuccess;
}

Result device_name(char* name, int room, DeviceHandle device) {
  return copy_text(machine().name_of(device), name, room);
}

Result device_attribute(int* value, int which, DeviceHandle /*device*/) {
  switch (which) {
    case kMultiprocessorCount:
      *value = 108;
      return kSuccess;
    case kMaxThreadsPerMultiprocessor:
      *value = 2048;
      return kSuccess;
    case kComputeCapabilityMajor:
      *value = machine().capability / 10;
      return kSuccess;
    case kComputeCapabilityMinor:
      *value = machine().capability % 10;
      return kSuccess;
    default:
      return kInvalidValue;
  }
}

Result device_total_memory(std::size_t* bytes, DeviceHandle /*device*/) {
  *bytes = machine().capacity_bytes;
  return kSuccess;
}

Result device_pci_bus_id(char* text, int room, DeviceHandle device) {
  return copy_text("0000:0" + std::to_string(device) + ":00.0", text, room);
}

// ---- contexts -----------------------------------------------------------------------------------

Result context_retain(ContextHandle* context, DeviceHandle device) {
  Machine& now = machine();
  if (const int error = now.begin("cuDevicePrimaryCtxRetain", false)) return error;
  CudaDevice* const card = card_of(device);
  if (card == nullptr) return now.wrong("a context on no card");
  if (!card->context) {
    VirtualGpuOptions options;
    options.context_bytes = now.context_bytes;
    options.device = device;
    options.values = ValueMode::keeps_values;
    card->context = std::make_unique<VirtualGpu>(card->memory, options);
  }
  ++card->context_uses;
  *context = reinterpret_cast<ContextHandle>(card);
  return kSuccess;
}

Result context_release(DeviceHandle device) {
  CudaDevice* const card = card_of(device);
  if (card == nullptr || card->context_uses == 0) {
    return machine().wrong("a context released that is not held");
  }
  if (--card->context_uses > 0) return kSuccess;
  if (machine().current == card) machine().current = nullptr;
  const bool is_empty = card->segments.empty() && card->ranges.empty();
  card->segments.clear();
  card->ranges.clear();
  card->mapped.clear();
  card->context.reset();
  return is_empty ? kSuccess : machine().wrong("a context released with memory in it");
}

Result context_set_current(ContextHandle context) {
  Machine& now = machine();
  if (const int error = now.begin("cuCtxSetCurrent", false)) return error;
  now.current = reinterpret_cast<CudaDevice*>(context);
  return kSuccess;
}

Result context_synchronize() { return machine().begin("cuCtxSynchronize"); }

Result peer_can_access(int* can_access, DeviceHandle device, DeviceHandle peer) {
  *can_access = static_cast<int>(device != peer);
  return kSuccess;
}

Result peer_enable_access(ContextHandle /*context*/, unsigned flags) {
  Machine& now = machine();
  if (const int error = now.begin("cuCtxEnablePeerAccess")) return error;
  if (flags != 0) return now.wrong("peer access with flags");
  return now.calls["cuCtxEnablePeerAccess"] > 1 ? kPeerAccessAlreadyEnabled : kSuccess;
}

}  // namespace ohm::stand_in::driver
