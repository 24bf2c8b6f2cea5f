// CUDA's driver: devices and contexts.
#include <cstdint>
#include <cstdio>

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
Status cudaDeviceGetStreamPriorityRange(int* least, int* greatest);
Status cudaDeviceCanAccessPeer(int* can, int device, int peer);
Status cudaDeviceGetP2PAttribute(int* value, int attribute, int device, int peer);
Status cudaDeviceGetPCIBusId(char* text, int length, int device);
Status cudaDeviceGetByPCIBusId(int* device, const char* text);
}

namespace {

constexpr unsigned kContextFlags = 0xff;

bool is_limit(int limit) { return limit >= 0 && static_cast<std::size_t>(limit) < kContextLimits; }

Status checked(int device) { return gpus().has(device) ? Status::success : Status::invalid_device; }

void free_memory_of_primary(int device) {
  gpus().free_all(device, primary_context(device));
  gpus().free_all_managed(device);
}

}  // namespace

OHM_EXPORTED Status cuInit(unsigned flags) {
  if (flags != 0) return Status::invalid_value;
  return gpus().count() > 0 ? Status::success : Status::no_device;
}

OHM_EXPORTED Status cuDriverGetVersion(int* version) {
  if (version == nullptr) return Status::invalid_value;
  *version = kToolkit13.cuda;
  return Status::success;
}

OHM_EXPORTED Status cuGetErrorString(Status status, const char** text) {
  if (text == nullptr) return Status::invalid_value;
  *text = driver_text_of(status);
  return *text != nullptr ? Status::success : Status::invalid_value;
}

OHM_EXPORTED Status cuGetErrorName(Status status, const char** name) {
  if (name == nullptr) return Status::invalid_value;
  *name = driver_name_of(status);
  return *name != nullptr ? Status::success : Status::invalid_value;
}

OHM_EXPORTED Status cuDeviceGetCount(int* count) {
  OHM_DRIVER_CALL;
  if (count == nullptr) return Status::invalid_value;
  *count = gpus().count();
  return Status::success;
}

OHM_EXPORTED Status cuDeviceGet(int* device, int ordinal) {
  OHM_DRIVER_CALL;
  if (device == nullptr) return Status::invalid_value;
  if (!gpus().has(ordinal)) return Status::invalid_device;
  *device = ordinal;
  return Status::success;
}

OHM_EXPORTED Status cuDeviceGetName(char* name, int length, int device) {
  OHM_DRIVER_CALL;
  if (name == nullptr || length <= 0) return Status::invalid_value;
  if (!gpus().has(device)) return Status::invalid_device;
  std::snprintf(name, static_cast<std::size_t>(length), "%s",
                product_name(gpus().profile()).c_str());
  return Status::success;
}

OHM_EXPORTED Status cuDeviceTotalMem_v2(std::size_t* bytes, int device) {
  OHM_DRIVER_CALL;
  if (bytes == nullptr) return Status::invalid_value;
  *bytes = gpus().profile().capacity_bytes;
  return checked(device);
}

OHM_EXPORTED Status cuDeviceGetAttribute(int* value, int attribute, int device) {
  OHM_DRIVER_CALL;
  if (value == nullptr || !is_attribute(attribute)) return Status::invalid_value;
  if (!gpus().has(device)) return Status::invalid_device;
  *value = attribute_of(gpus().profile(), gpus().number_in_machine(device), attribute);
  return Status::success;
}

OHM_EXPORTED Status cuDeviceGetUuid_v2(std::array<unsigned char, 16>* uuid, int device) {
  OHM_DRIVER_CALL;
  if (uuid == nullptr) return Status::invalid_value;
  if (!gpus().has(device)) return Status::invalid_device;
  *uuid = uuid_of(gpus().number_in_machine(device));
  return Status::success;
}

OHM_EXPORTED Status cuDeviceGetUuid(std::array<unsigned char, 16>* uuid, int device) {
  OHM_DRIVER_CALL;
  return cuDeviceGetUuid_v2(uuid, device);
}

OHM_EXPORTED Status cuDeviceComputeCapability(int* major, int* minor, int device) {
  OHM_DRIVER_CALL;
  if (major == nullptr || minor == nullptr) return Status::invalid_value;
  *major = gpus().profile().compute_capability[0];
  *minor = gpus().profile().compute_capability[1];
  return checked(device);
}

OHM_EXPORTED Status cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* is_active) {
  OHM_DRIVER_CALL;
  if (flags == nullptr || is_active == nullptr) return Status::invalid_value;
  if (!gpus().has(device)) return Status::invalid_device;
  *flags = primary_context(device)->flags;
  *is_active = is_primary_active(device) ? 1 : 0;
  return Status::success;
}

OHM_EXPORTED Status cuDevicePrimaryCtxSetFlags_v2(int device, unsigned flags) {
  OHM_DRIVER_CALL;
  if (!gpus().has(device)) return Status::invalid_device;
  if (flags > kContextFlags) return Status::invalid_value;
  primary_context(device)->flags = flags;
  return Status::success;
}

OHM_EXPORTED Status cuDevicePrimaryCtxRetain(Context** context, int device) {
  OHM_DRIVER_CALL;
  if (context == nullptr) return Status::invalid_value;
  if (!gpus().has(device)) return Status::invalid_device;
  retain_primary(device);
  *context = primary_context(device);
  return Status::success;
}

OHM_EXPORTED Status cuDevicePrimaryCtxRelease_v2(int device) {
  OHM_DRIVER_CALL;
  if (!gpus().has(device)) return Status::invalid_device;
  if (!release_primary(device)) return Status::invalid_context;
  if (!is_primary_active(device)) free_memory_of_primary(device);
  return Status::success;
}

OHM_EXPORTED Status cuDevicePrimaryCtxReset_v2(int device) {
  OHM_DRIVER_CALL;
  if (!gpus().has(device)) return Status::invalid_device;
  free_memory_of_primary(device);
  end_primary(device);
  return Status::success;
}

OHM_EXPORTED Status cuCtxCreate_v2(Context** context, unsigned flags, int device) {
  OHM_DRIVER_CALL;
  if (context == nullptr || flags > kContextFlags) return Status::invalid_value;
  if (!gpus().has(device)) return Status::invalid_device;
  *context = create_context(device, flags);
  return *context != nullptr ? Status::success : Status::out_of_memory;
}

/// Affinities of execution do not matter here.
OHM_EXPORTED Status cuCtxCreate_v3(Context** context, void* /*affinities*/, int /*count*/,
                                   unsigned flags, int device) {
  OHM_DRIVER_CALL;
  return cuCtxCreate_v2(context, flags, device);
}

OHM_EXPORTED Status cuCtxCreate_v4(Context** context, void* /*parameters*/, unsigned flags,
                                   int device) {
  OHM_DRIVER_CALL;
  return cuCtxCreate_v2(context, flags, device);
}

OHM_EXPORTED Status cuCtxDestroy_v2(Context* context) {
  OHM_DRIVER_CALL;
  return destroy_context(context) ? Status::success : Status::invalid_context;
}

OHM_EXPORTED Status cuCtxGetCurrent(Context** context) {
  OHM_DRIVER_CALL;
  if (context == nullptr) return Status::invalid_value;
  *context = current_context();
  return Status::success;
}

OHM_EXPORTED Status cuCtxSetCurrent(Context* context) {
  OHM_DRIVER_CALL;
  if (context != nullptr && !is_context(context)) return Status::invalid_context;
  set_current_context(context);
  return Status::success;
}

OHM_EXPORTED Status cuCtxPushCurrent_v2(Context* context) {
  OHM_DRIVER_CALL;
  if (!is_context(context)) return Status::invalid_context;
  push_context(context);
  return Status::success;
}

OHM_EXPORTED Status cuCtxPopCurrent_v2(Context** context) {
  OHM_DRIVER_CALL;
  Context* const last = pop_context();
  if (context != nullptr) *context = last;
  return last != nullptr ? Status::success : Status::invalid_context;
}

OHM_EXPORTED Status cuCtxGetDevice(int* device) {
  OHM_CONTEXT_CALL;
  if (device == nullptr) return Status::invalid_value;
  *device = current_context()->device;
  return Status::success;
}

OHM_EXPORTED Status cuCtxSynchronize() {
  OHM_CONTEXT_CALL;
  if (breaks_capture_of(gpus().current())) return Status::capture_not_allowed;
  note_device_waited(gpus().current());
  gpus().trim_pools();
  return Status::success;
}

OHM_EXPORTED Status cuCtxGetLimit(std::size_t* value, int limit) {
  OHM_CONTEXT_CALL;
  if (value == nullptr) return Status::invalid_value;
  if (!is_limit(limit)) return Status::unsupported_limit;
  *value = current_context()->limits.at(static_cast<std::size_t>(limit));
  return Status::success;
}

OHM_EXPORTED Status cuCtxSetLimit(int limit, std::size_t value) {
  OHM_CONTEXT_CALL;
  if (!is_limit(limit)) return Status::unsupported_limit;
  current_context()->limits.at(static_cast<std::size_t>(limit)) = value;
  return Status::success;
}

OHM_EXPORTED Status cuCtxEnablePeerAccess(Context* peer, unsigned flags) {
  OHM_CONTEXT_CALL;
  if (flags != 0) return Status::invalid_value;
  if (!is_context(peer)) return Status::invalid_context;
  return enable_peer(*current_context(), peer->device);
}

OHM_EXPORTED Status cuCtxDisablePeerAccess(Context* peer) {
  OHM_CONTEXT_CALL;
  if (!is_context(peer)) return Status::invalid_context;
  return disable_peer(*current_context(), peer->device);
}

OHM_EXPORTED Status cuStreamGetCtx(Stream* stream, Context** context) {
  OHM_CONTEXT_CALL;
  if (!is_stream(stream)) return Status::invalid_handle;
  if (context == nullptr) return Status::invalid_value;
  const bool is_current = is_default(stream) || current_context()->device == stream->device;
  *context = is_current ? current_context() : primary_context(stream->device);
  return Status::success;
}

OHM_EXPORTED Status cuCtxGetFlags(unsigned* flags) {
  OHM_DRIVER_CALL;
  if (flags == nullptr) return Status::invalid_value;
  *flags = current_context() == nullptr ? 0 : current_context()->flags.load();
  return Status::success;
}

OHM_EXPORTED Status cuCtxSetFlags(unsigned flags) {
  OHM_CONTEXT_CALL;
  if (flags > kContextFlags) return Status::invalid_value;
  current_context()->flags = flags;
  return Status::success;
}

/// nullptr: of the current one.
OHM_EXPORTED Status cuCtxGetId(Context* context, unsigned long long* id) {
  OHM_DRIVER_CALL;
  if (context == nullptr) context = current_context();
  if (!is_context(context)) return Status::invalid_context;
  if (id == nullptr) return Status::invalid_value;
  *id = reinterpret_cast<std::uintptr_t>(context);
  return Status::success;
}

OHM_EXPORTED Status cuCtxResetPersistingL2Cache() {
  OHM_CONTEXT_CALL;
  return Status::success;
}

OHM_EXPORTED Status cuCtxGetDevice_v2(int* device, Context* context) {
  OHM_DRIVER_CALL;
  if (context == nullptr) context = current_context();
  if (!is_context(context)) return Status::invalid_context;
  if (device == nullptr) return Status::invalid_value;
  *device = context->device;
  return Status::success;
}

OHM_EXPORTED Status cuCtxGetApiVersion(Context* context, unsigned* version) {
  OHM_DRIVER_CALL;
  if (context != nullptr && !is_context(context)) return Status::invalid_context;
  if (version == nullptr) return Status::invalid_value;
  constexpr unsigned kContextVersion = 3020;  // of CUDA 3.2 and all that came since
  *version = kContextVersion;
  return Status::success;
}

OHM_EXPORTED Status cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  OHM_DRIVER_CALL;
  return cudaDeviceGetStreamPriorityRange(least, greatest);
}

OHM_EXPORTED Status cuDeviceCanAccessPeer(int* can, int device, int peer) {
  OHM_DRIVER_CALL;
  return cudaDeviceCanAccessPeer(can, device, peer);
}

OHM_EXPORTED Status cuDeviceGetP2PAttribute(int* value, int attribute, int device, int peer) {
  OHM_DRIVER_CALL;
  return cudaDeviceGetP2PAttribute(value, attribute, device, peer);
}

OHM_EXPORTED Status cuDeviceGetPCIBusId(char* text, int length, int device) {
  OHM_DRIVER_CALL;
  return cudaDeviceGetPCIBusId(text, length, device);
}

OHM_EXPORTED Status cuDeviceGetByPCIBusId(int* device, const char* text) {
  OHM_DRIVER_CALL;
  return cudaDeviceGetByPCIBusId(device, text);
}
