// CUDA's driver: pools of stream-ordered memory, which are the runtime's.
#include <cstddef>

#include "allocator_shim/interpose/entry_call.h"
#include "allocator_shim/interpose/exported.h"
#include "allocator_shim/interpose/memory_pool.h"
#include "allocator_shim/interpose/status.h"

using namespace ohm::interpose;

extern "C" {
Status cudaDeviceGetDefaultMemPool(void** pool, int device);
Status cudaDeviceGetMemPool(void** pool, int device);
Status cudaDeviceSetMemPool(int device, MemoryPool* pool);
Status cudaMemPoolCreate(void** pool, const PoolProperties* properties);
Status cudaMemPoolDestroy(MemoryPool* pool);
Status cudaMemPoolTrimTo(MemoryPool* pool, std::size_t kept_bytes);
Status cudaMemPoolGetAttribute(MemoryPool* pool, int attribute, void* value);
Status cudaMemPoolSetAttribute(MemoryPool* pool, int attribute, void* value);
Status cudaMemPoolSetAccess(MemoryPool* pool, const PoolAccess* accesses, std::size_t count);
Status cudaMemPoolExportToShareableHandle(void* handle, const MemoryPool* pool, int handle_type,
                                          unsigned flags);
Status cudaMemPoolExportPointer(void* exported, const void* pointer);
Status cudaMemPoolGetAccess(int* flags, const MemoryPool* pool, const PoolLocation* location);
}

OHM_EXPORTED Status cuDeviceGetDefaultMemPool(void** pool, int device) {
  OHM_DRIVER_CALL;
  return cudaDeviceGetDefaultMemPool(pool, device);
}

OHM_EXPORTED Status cuDeviceGetMemPool(void** pool, int device) {
  OHM_DRIVER_CALL;
  return cudaDeviceGetMemPool(pool, device);
}

OHM_EXPORTED Status cuDeviceSetMemPool(int device, MemoryPool* pool) {
  OHM_DRIVER_CALL;
  return cudaDeviceSetMemPool(device, pool);
}

OHM_EXPORTED Status cuMemPoolCreate(void** pool, const PoolProperties* properties) {
  OHM_DRIVER_CALL;
  return cudaMemPoolCreate(pool, properties);
}

OHM_EXPORTED Status cuMemPoolDestroy(MemoryPool* pool) {
  OHM_DRIVER_CALL;
  return cudaMemPoolDestroy(pool);
}

OHM_EXPORTED Status cuMemPoolTrimTo(MemoryPool* pool, std::size_t kept_bytes) {
  OHM_DRIVER_CALL;
  return cudaMemPoolTrimTo(pool, kept_bytes);
}

OHM_EXPORTED Status cuMemPoolGetAttribute(MemoryPool* pool, int attribute, void* value) {
  OHM_DRIVER_CALL;
  return cudaMemPoolGetAttribute(pool, attribute, value);
}

OHM_EXPORTED Status cuMemPoolSetAttribute(MemoryPool* pool, int attribute, void* value) {
  OHM_DRIVER_CALL;
  return cudaMemPoolSetAttribute(pool, attribute, value);
}

OHM_EXPORTED Status cuMemPoolSetAccess(MemoryPool* pool, const PoolAccess* accesses,
                                       std::size_t count) {
  OHM_DRIVER_CALL;
  return cudaMemPoolSetAccess(pool, accesses, count);
}

OHM_EXPORTED Status cuMemPoolExportToShareableHandle(void* handle, const MemoryPool* pool,
                                                     int handle_type, unsigned flags) {
  OHM_DRIVER_CALL;
  return cudaMemPoolExportToShareableHandle(handle, pool, handle_type, flags);
}

OHM_EXPORTED Status cuMemPoolExportPointer(void* exported, const void* pointer) {
  OHM_DRIVER_CALL;
  return cudaMemPoolExportPointer(exported, pointer);
}

OHM_EXPORTED Status cuMemPoolGetAccess(int* flags, const MemoryPool* pool,
                                       const PoolLocation* location) {
  OHM_DRIVER_CALL;
  return cudaMemPoolGetAccess(flags, pool, location);
}
