// CUDA's runtime: devices, errors, versions.
#include <fmt/format.h>

#include <cstdint>
#include <cstdio>

#include "allocator_shim/interpose/arrays.h"
#include "allocator_shim/interpose/call_trace.h"
#include "allocator_shim/interpose/device_model.h"
#include "allocator_shim/interpose/device_properties.h"
#include "allocator_shim/interpose/entry_call.h"
#include "allocator_shim/interpose/exported.h"
#include "allocator_shim/interpose/gpu_system.h"
#include "allocator_shim/interpose/objects.h"
#include "allocator_shim/interpose/status.h"
#include "allocator_shim/interpose/toolkit_version.h"
#include "allocator_shim/interpose/work_in_flight.h"

using namespace ohm::interpose;

extern "C" {
Status cuCtxGetLimit(std::size_t* value, int limit);
Status cuCtxSetLimit(int limit, std::size_t value);
}

namespace {

/// How threads wait (cudaDeviceSchedule...), and three others.
bool are_device_flags(unsigned flags) {
  constexpr unsigned kSchedules = 7;
  constexpr unsigned kFlags = 0xff;
  const unsigned schedule = flags & kSchedules;
  return flags <= kFlags && (schedule & (schedule - 1)) == 0;
}

template <typename Properties>
Status properties_of(Properties* properties, int device) {
  OHM_RUNTIME_QUERY;
  if (properties == nullptr) return noted(Status::invalid_value);
  if (!gpus().has(device)) return noted(Status::invalid_device);
  fill(*properties, gpus().profile(), gpus().number_in_machine(device));
  return Status::success;
}

}  // namespace

OHM_EXPORTED Status cudaGetDeviceCount(int* count) {
  if (count == nullptr) return noted(Status::invalid_value);
  *count = 0;
  OHM_RUNTIME_QUERY;
  *count = gpus().count();
  return Status::success;
}

OHM_EXPORTED Status cudaGetDevice(int* device) {
  OHM_RUNTIME_QUERY;
  if (device == nullptr) return noted(Status::invalid_value);
  *device = gpus().current();
  return Status::success;
}

OHM_EXPORTED Status cudaSetDevice(int device) {
  OHM_RUNTIME_CALL;
  const Status status = gpus().set_current(device);
  if (status == Status::success && current_context() != primary_context(device)) {
    set_current_context(primary_context(device));
  }
  return noted(status);
}

/// All cards are alike: the first is as good as any.
OHM_EXPORTED Status cudaChooseDevice(int* device, const void* properties) {
  OHM_RUNTIME_QUERY;
  if (device == nullptr || properties == nullptr) return noted(Status::invalid_value);
  *device = 0;
  return Status::success;
}

/// That are tried for a thread that chose none: the first of them. No list: all.
OHM_EXPORTED Status cudaSetValidDevices(const int* devices, int count) {
  OHM_RUNTIME_QUERY;
  if (count < 0 || count > gpus().count() || (count > 0 && devices == nullptr)) {
    return noted(Status::invalid_value);
  }
  for (int i = 0; i < count; ++i) {
    if (!gpus().has(devices[i])) return noted(Status::invalid_device);
  }
  return noted(gpus().set_current(count > 0 ? devices[0] : 0));
}

OHM_EXPORTED Status cudaGetDeviceProperties_v2(DeviceProperties12* properties, int device) {
  return properties_of(properties, device);
}

OHM_EXPORTED Status cudaGetDeviceProperties(DeviceProperties13* properties, int device) {
  return properties_of(properties, device);
}

OHM_EXPORTED Status cudaDeviceGetAttribute(int* value, int attribute, int device) {
  OHM_RUNTIME_QUERY;
  if (value == nullptr || !is_attribute(attribute)) return noted(Status::invalid_value);
  if (!gpus().has(device)) return noted(Status::invalid_device);
  *value = attribute_of(gpus().profile(), gpus().number_in_machine(device), attribute);
  return Status::success;
}

OHM_EXPORTED Status cudaDeviceGetPCIBusId(char* text, int length, int device) {
  OHM_RUNTIME_QUERY;
  if (text == nullptr || length <= 0) return noted(Status::invalid_value);
  if (!gpus().has(device)) return noted(Status::invalid_device);
  std::snprintf(text, static_cast<std::size_t>(length), "%s",
                pci_bus_id(gpus().number_in_machine(device)).c_str());
  return Status::success;
}

OHM_EXPORTED Status cudaDeviceGetByPCIBusId(int* device, const char* text) {
  OHM_RUNTIME_QUERY;
  if (device == nullptr || text == nullptr) return noted(Status::invalid_value);
  *device = gpus().visible_device(device_of_pci_bus_id(text));
  return gpus().has(*device) ? Status::success : noted(Status::invalid_device);
}

OHM_EXPORTED Status cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  OHM_RUNTIME_CALL;
  constexpr int kGreatestPriority = -5;
  if (least != nullptr) *least = 0;
  if (greatest != nullptr) *greatest = kGreatestPriority;
  return Status::success;
}

OHM_EXPORTED Status cudaDeviceGetLimit(std::size_t* value, int limit) {
  OHM_RUNTIME_CALL;
  return noted(cuCtxGetLimit(value, limit));
}

OHM_EXPORTED Status cudaDeviceSetLimit(int limit, std::size_t value) {
  OHM_RUNTIME_CALL;
  return noted(cuCtxSetLimit(limit, value));
}

OHM_EXPORTED Status cudaSetDeviceFlags(unsigned flags) {
  OHM_RUNTIME_QUERY;
  if (!are_device_flags(flags)) return noted(Status::invalid_value);
  primary_context(gpus().current())->flags = flags;
  return Status::success;
}

/// Memory of the host can always be mapped.
OHM_EXPORTED Status cudaGetDeviceFlags(unsigned* flags) {
  OHM_RUNTIME_QUERY;
  constexpr unsigned kMapsHost = 8;
  if (flags == nullptr) return noted(Status::invalid_value);
  *flags = primary_context(gpus().current())->flags | kMapsHost;
  return Status::success;
}

/// Its context is made when it is first used, whoever asks for it before.
OHM_EXPORTED Status cudaInitDevice(int device, unsigned device_flags, unsigned flags) {
  OHM_RUNTIME_CALL;
  constexpr unsigned kDeviceFlagsAreGiven = 1;
  if (!gpus().has(device)) return noted(Status::invalid_device);
  if (flags > kDeviceFlagsAreGiven || !are_device_flags(device_flags)) {
    return noted(Status::invalid_value);
  }
  if (flags != 0) primary_context(device)->flags = device_flags;
  return Status::success;
}

/// cudaDeviceP2PAttr: GPUs are equally near to each other, and access all of their memory.
OHM_EXPORTED Status cudaDeviceGetP2PAttribute(int* value, int attribute, int device, int peer) {
  OHM_RUNTIME_QUERY;
  constexpr int kPerformanceRank = 1;
  constexpr int kAttributes = 4;
  if (value == nullptr || attribute < kPerformanceRank || attribute > kAttributes) {
    return noted(Status::invalid_value);
  }
  const bool are_peers = gpus().has(device) && gpus().has(peer) && device != peer;
  if (!are_peers) return noted(Status::invalid_device);
  *value = attribute == kPerformanceRank ? 0 : 1;
  return Status::success;
}

OHM_EXPORTED Status cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  OHM_RUNTIME_QUERY;
  if (can == nullptr) return noted(Status::invalid_value);
  if (!gpus().has(device) || !gpus().has(peer)) return noted(Status::invalid_device);
  *can = device != peer ? 1 : 0;
  return Status::success;
}

OHM_EXPORTED Status cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  OHM_RUNTIME_CALL;
  if (flags != 0) return noted(Status::invalid_value);
  return noted(enable_peer(*primary_context(gpus().current()), peer));
}

OHM_EXPORTED Status cudaDeviceDisablePeerAccess(int peer) {
  OHM_RUNTIME_CALL;
  return noted(disable_peer(*primary_context(gpus().current()), peer));
}

OHM_EXPORTED Status cudaDeviceSynchronize() {
  OHM_RUNTIME_CALL;
  if (breaks_capture_of(gpus().current())) return noted(Status::capture_not_allowed);
  note_device_waited(gpus().current());
  gpus().trim_pools();
  return Status::success;
}

/// Its memory is freed, as at the end of the process.
OHM_EXPORTED Status cudaDeviceReset() {
  OHM_RUNTIME_CALL;
  note_device_waited(gpus().current());
  const int device = gpus().current();
  gpus().free_all(device, nullptr);
  gpus().free_all_managed(device);
  gpus().forget_pinned(device);
  forget_arrays(device);
  streams().destroy_if([device](const Stream& stream) { return stream.device == device; });
  events().destroy_if([device](const Event& event) { return event.device == device; });
  primary_context(device)->peers = 0;
  end_primary(device);
  return Status::success;
}

OHM_EXPORTED Status cudaDriverGetVersion(int* version) {
  if (version == nullptr) return noted(Status::invalid_value);
  *version = kToolkit13.cuda;
  return Status::success;
}

OHM_VERSION(runtime_version_12, cudaRuntimeGetVersion, "libcudart.so.12")
Status runtime_version_12(int* version) {
  if (version == nullptr) return noted(Status::invalid_value);
  *version = kToolkit12.cuda;
  return Status::success;
}

OHM_DEFAULT_VERSION(runtime_version_13, cudaRuntimeGetVersion, "libcudart.so.13")
Status runtime_version_13(int* version) {
  if (version == nullptr) return noted(Status::invalid_value);
  *version = kToolkit13.cuda;
  return Status::success;
}

/// An error that stays is told again and again.
OHM_EXPORTED Status cudaGetLastError() {
  note_error_is_read();
  if (const Status sticky = sticky_error(); sticky != Status::success) return sticky;
  const Status status = last_error();
  forget_last_error();
  return status;
}

OHM_EXPORTED Status cudaPeekAtLastError() {
  note_error_is_read();
  const Status sticky = sticky_error();
  return sticky != Status::success ? sticky : last_error();
}
OHM_EXPORTED const char* cudaGetErrorString(Status status) { return text_of(status); }
OHM_EXPORTED const char* cudaGetErrorName(Status status) { return name_of(status); }
