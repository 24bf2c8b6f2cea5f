// CUDA's driver: modules and their kernels, which are accepted and compute nothing.
#include <cstdint>

#include "allocator_shim/interpose/device_model.h"
#include "allocator_shim/interpose/exported.h"
#include "allocator_shim/interpose/gpu_system.h"
#include "allocator_shim/interpose/objects.h"
#include "allocator_shim/interpose/status.h"

using namespace ohm::interpose;

namespace {

// Numbers of CUfunction_attribute.
constexpr int kMaxThreadsAttribute = 0;
constexpr int kRegistersAttribute = 4;

/// The beginning of CUlaunchConfig.
struct DriverLaunchConfiguration {
  unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes;
  Stream* stream;
};

}  // namespace

OHM_EXPORTED Status cuModuleLoadData(void** module, const void* /*image*/) {
  *module = create_object();
  return Status::success;
}

OHM_EXPORTED Status cuModuleLoadDataEx(void** module, const void* image, unsigned /*count*/,
                                       void* /*options*/, void** /*values*/) {
  return cuModuleLoadData(module, image);
}

OHM_EXPORTED Status cuModuleLoad(void** module, const char* /*path*/) {
  return cuModuleLoadData(module, nullptr);
}

OHM_EXPORTED Status cuModuleUnload(void* module) {
  destroy_object(module);
  return Status::success;
}

/// A function's handle is its module's, which lives as long.
OHM_EXPORTED Status cuModuleGetFunction(void** function, void* module, const char* /*name*/) {
  *function = module;
  return Status::success;
}

OHM_EXPORTED Status cuFuncGetModule(void** module, void* function) {
  *module = function;
  return Status::success;
}

OHM_EXPORTED Status cuFuncGetAttribute(int* value, int attribute, void* /*function*/) {
  *value = attribute == kMaxThreadsAttribute  ? kMaxBlockThreads
           : attribute == kRegistersAttribute ? kKernelRegisters
                                              : 0;
  return Status::success;
}

OHM_EXPORTED Status cuKernelGetAttribute(int* value, int attribute, void* kernel, int /*device*/) {
  return cuFuncGetAttribute(value, attribute, kernel);
}

OHM_EXPORTED Status cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void* /*function*/,
                                                                int threads,
                                                                std::size_t shared_bytes) {
  *blocks = resident_blocks(gpus().profile(), threads, shared_bytes);
  return Status::success;
}

OHM_EXPORTED Status cuOccupancyMaxActiveClusters(
    int* clusters, void* /*function*/, const DriverLaunchConfiguration* /*configuration*/) {
  *clusters = 1;
  return Status::success;
}

OHM_EXPORTED Status cuLaunchKernel(void* /*function*/, unsigned /*grid_x*/, unsigned /*grid_y*/,
                                   unsigned /*grid_z*/, unsigned /*block_x*/, unsigned /*block_y*/,
                                   unsigned /*block_z*/, unsigned /*shared_bytes*/, Stream* stream,
                                   void** /*arguments*/, void** /*extra*/) {
  note_work(stream);
  return Status::success;
}

OHM_EXPORTED Status cuLaunchCooperativeKernel(void* /*function*/, unsigned /*grid_x*/,
                                              unsigned /*grid_y*/, unsigned /*grid_z*/,
                                              unsigned /*block_x*/, unsigned /*block_y*/,
                                              unsigned /*block_z*/, unsigned /*shared_bytes*/,
                                              Stream* stream, void** /*arguments*/) {
  note_work(stream);
  return Status::success;
}

OHM_EXPORTED Status cuLaunchKernelEx(const DriverLaunchConfiguration* configuration,
                                     void* /*function*/, void** /*arguments*/, void** /*extra*/) {
  note_work(configuration->stream);
  return Status::success;
}
