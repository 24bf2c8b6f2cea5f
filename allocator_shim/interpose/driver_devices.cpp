// CUDA's driver: devices and contexts. Each device has one context, which is always there; streams,
// events and errors are the runtime's.
#include <cstdint>
#include <cstdio>

#include "allocator_shim/interpose/device_model.h"
#include "allocator_shim/interpose/device_properties.h"
#include "allocator_shim/interpose/driver_state.h"
#include "allocator_shim/interpose/exported.h"
#include "allocator_shim/interpose/gpu_system.h"
#include "allocator_shim/interpose/objects.h"
#include "allocator_shim/interpose/status.h"
#include "allocator_shim/interpose/toolkit_version.h"

using namespace ohm::interpose;

extern "C" {
Status cudaDeviceGetStreamPriorityRange(int* least, int* greatest);
Status cudaDeviceCanAccessPeer(int* can, int device, int peer);
Status cudaDeviceGetPCIBusId(char* text, int length, int device);
Status cudaDeviceGetByPCIBusId(int* device, const char* text);
}

namespace {

/// A context's handle says which device it is of.
using Context = std::uintptr_t;
Context context_of(int device) { return static_cast<Context>(device) + 1; }
int device_of(Context context) { return static_cast<int>(context) - 1; }

Status checked(int device) { return gpus().has(device) ? Status::success : Status::invalid_device; }

}  // namespace

OHM_EXPORTED Status cuInit(unsigned /*flags*/) {
  return gpus().count() > 0 ? Status::success : Status::no_device;
}

OHM_EXPORTED Status cuDriverGetVersion(int* version) {
  *version = kToolkit13.cuda;
  return Status::success;
}

OHM_EXPORTED Status cuGetErrorString(Status status, const char** text) {
  *text = text_of(status);
  return Status::success;
}

OHM_EXPORTED Status cuGetErrorName(Status status, const char** name) {
  *name = name_of(status);
  return Status::success;
}

OHM_EXPORTED Status cuDeviceGetCount(int* count) {
  OHM_NEEDS_CUINIT;
  *count = gpus().count();
  return Status::success;
}

OHM_EXPORTED Status cuDeviceGet(int* device, int ordinal) {
  OHM_NEEDS_CUINIT;
  *device = ordinal;
  return checked(ordinal);
}

OHM_EXPORTED Status cuDeviceGetName(char* name, int length, int device) {
  OHM_NEEDS_CUINIT;
  std::snprintf(name, static_cast<std::size_t>(length), "%s",
                product_name(gpus().profile()).c_str());
  return checked(device);
}

OHM_EXPORTED Status cuDeviceTotalMem_v2(std::size_t* bytes, int device) {
  OHM_NEEDS_CUINIT;
  *bytes = gpus().profile().capacity_bytes;
  return checked(device);
}

OHM_EXPORTED Status cuDeviceGetAttribute(int* value, int attribute, int device) {
  OHM_NEEDS_CUINIT;
  if (!gpus().has(device)) return Status::invalid_device;
  *value = attribute_of(gpus().profile(), gpus().number_in_machine(device), attribute);
  return Status::success;
}

OHM_EXPORTED Status cuDeviceGetUuid_v2(std::array<unsigned char, 16>* uuid, int device) {
  OHM_NEEDS_CUINIT;
  if (!gpus().has(device)) return Status::invalid_device;
  *uuid = uuid_of(gpus().number_in_machine(device));
  return Status::success;
}

OHM_EXPORTED Status cuDeviceGetUuid(std::array<unsigned char, 16>* uuid, int device) {
  return cuDeviceGetUuid_v2(uuid, device);
}

OHM_EXPORTED Status cuDeviceComputeCapability(int* major, int* minor, int device) {
  OHM_NEEDS_CUINIT;
  *major = gpus().profile().compute_capability[0];
  *minor = gpus().profile().compute_capability[1];
  return checked(device);
}

OHM_EXPORTED Status cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* is_active) {
  OHM_NEEDS_CUINIT;
  if (flags != nullptr) *flags = 0;
  if (is_active != nullptr) *is_active = 1;
  return checked(device);
}

OHM_EXPORTED Status cuDevicePrimaryCtxRetain(Context* context, int device) {
  OHM_NEEDS_CUINIT;
  *context = context_of(device);
  return checked(device);
}

OHM_EXPORTED Status cuCtxGetCurrent(Context* context) {
  OHM_NEEDS_CUINIT;
  *context = context_of(gpus().current());
  return Status::success;
}

OHM_EXPORTED Status cuCtxSetCurrent(Context context) {
  OHM_NEEDS_CUINIT;
  return context == 0 ? Status::success : gpus().set_current(device_of(context));
}

OHM_EXPORTED Status cuCtxPushCurrent_v2(Context context) { return cuCtxSetCurrent(context); }
OHM_EXPORTED Status cuCtxPopCurrent_v2(Context* context) { return cuCtxGetCurrent(context); }

OHM_EXPORTED Status cuCtxGetDevice(int* device) {
  OHM_NEEDS_CUINIT;
  *device = gpus().current();
  return Status::success;
}

OHM_EXPORTED Status cuCtxGetLimit(std::size_t* value, int /*limit*/) {
  OHM_NEEDS_CUINIT;
  constexpr std::size_t kStackBytes = 8192;
  *value = kStackBytes;
  return Status::success;
}

OHM_EXPORTED Status cuStreamGetCtx(Stream* stream, Context* context) {
  OHM_NEEDS_CUINIT;
  *context = context_of(is_default(stream) ? gpus().current() : stream->device);
  return Status::success;
}

OHM_EXPORTED Status cuCtxGetFlags(unsigned* flags) {
  OHM_NEEDS_CUINIT;
  *flags = 0;
  return Status::success;
}

OHM_EXPORTED Status cuCtxGetApiVersion(Context /*context*/, unsigned* version) {
  OHM_NEEDS_CUINIT;
  constexpr unsigned kContextVersion = 3020;  // of CUDA 3.2 and all that came since
  *version = kContextVersion;
  return Status::success;
}

OHM_EXPORTED Status cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  OHM_NEEDS_CUINIT;
  return cudaDeviceGetStreamPriorityRange(least, greatest);
}

OHM_EXPORTED Status cuDeviceCanAccessPeer(int* can, int device, int peer) {
  OHM_NEEDS_CUINIT;
  return cudaDeviceCanAccessPeer(can, device, peer);
}

OHM_EXPORTED Status cuDeviceGetPCIBusId(char* text, int length, int device) {
  OHM_NEEDS_CUINIT;
  return cudaDeviceGetPCIBusId(text, length, device);
}

OHM_EXPORTED Status cuDeviceGetByPCIBusId(int* device, const char* text) {
  OHM_NEEDS_CUINIT;
  return cudaDeviceGetByPCIBusId(device, text);
}
