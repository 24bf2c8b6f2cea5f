// CUDA's driver: modules and their kernels, which are accepted and compute nothing.
#include <algorithm>
#include <array>
#include <cstddef>

#include "allocator_shim/interpose/device_model.h"
#include "allocator_shim/interpose/driver_state.h"
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
  OHM_NEEDS_CUINIT;
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

OHM_EXPORTED Status cuModuleLoadFatBinary(void** module, const void* image) {
  return cuModuleLoadData(module, image);
}

OHM_EXPORTED Status cuModuleUnload(void* module) {
  OHM_NEEDS_CUINIT;
  destroy_object(module);
  return Status::success;
}

OHM_EXPORTED Status cuModuleGetLoadingMode(int* mode) {
  OHM_NEEDS_CUINIT;
  constexpr int kLazy = 2;
  *mode = kLazy;
  return Status::success;
}

/// What was linked is accepted as any other image is.
OHM_EXPORTED Status cuLinkComplete(void* /*state*/, const void** image, std::size_t* bytes) {
  OHM_NEEDS_CUINIT;
  static constexpr std::array<char, 8> kLinked = {};
  *image = kLinked.data();
  *bytes = kLinked.size();
  return Status::success;
}

/// A library is its own module, and its kernels' handle is its own.
OHM_EXPORTED Status cuLibraryLoadData(void** library, const void* image, void* /*options*/,
                                      void** /*values*/, unsigned /*count*/,
                                      void* /*library_options*/, void** /*library_values*/,
                                      unsigned /*library_count*/) {
  return cuModuleLoadData(library, image);
}

OHM_EXPORTED Status cuLibraryUnload(void* library) { return cuModuleUnload(library); }

OHM_EXPORTED Status cuLibraryGetModule(void** module, void* library) {
  OHM_NEEDS_CUINIT;
  *module = library;
  return Status::success;
}

OHM_EXPORTED Status cuLibraryGetKernel(void** kernel, void* library, const char* /*name*/) {
  OHM_NEEDS_CUINIT;
  *kernel = library;
  return Status::success;
}

OHM_EXPORTED Status cuKernelGetFunction(void** function, void* kernel) {
  OHM_NEEDS_CUINIT;
  *function = kernel;
  return Status::success;
}

/// A function's handle is its module's, which lives as long.
OHM_EXPORTED Status cuModuleGetFunction(void** function, void* module, const char* /*name*/) {
  OHM_NEEDS_CUINIT;
  *function = module;
  return Status::success;
}

OHM_EXPORTED Status cuFuncGetModule(void** module, void* function) {
  OHM_NEEDS_CUINIT;
  *module = function;
  return Status::success;
}

OHM_EXPORTED Status cuFuncGetAttribute(int* value, int attribute, void* /*function*/) {
  OHM_NEEDS_CUINIT;
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
  OHM_NEEDS_CUINIT;
  *blocks = resident_blocks(gpus().profile(), threads, shared_bytes);
  return Status::success;
}

OHM_EXPORTED Status cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, void* function, int threads, std::size_t shared_bytes, unsigned /*flags*/) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, shared_bytes);
}

/// `shared_bytes_of` says how much dynamic shared memory a block of a size takes, where that is
/// not `shared_bytes` for all of them.
OHM_EXPORTED Status cuOccupancyMaxPotentialBlockSize(int* blocks, int* threads, void* function,
                                                     std::size_t (*shared_bytes_of)(int threads),
                                                     std::size_t shared_bytes, int limit) {
  OHM_NEEDS_CUINIT;
  *threads = limit > 0 ? std::min(limit, kMaxBlockThreads) : kMaxBlockThreads;
  if (shared_bytes_of != nullptr) shared_bytes = shared_bytes_of(*threads);
  cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, *threads, shared_bytes);
  *blocks *= gpus().profile().multiprocessors;
  return Status::success;
}

OHM_EXPORTED Status cuOccupancyMaxActiveClusters(
    int* clusters, void* /*function*/, const DriverLaunchConfiguration* /*configuration*/) {
  OHM_NEEDS_CUINIT;
  *clusters = 1;
  return Status::success;
}

OHM_EXPORTED Status cuLaunchKernel(void* /*function*/, unsigned /*grid_x*/, unsigned /*grid_y*/,
                                   unsigned /*grid_z*/, unsigned /*block_x*/, unsigned /*block_y*/,
                                   unsigned /*block_z*/, unsigned /*shared_bytes*/, Stream* stream,
                                   void** /*arguments*/, void** /*extra*/) {
  OHM_NEEDS_CUINIT;
  note_work(stream);
  return Status::success;
}

OHM_EXPORTED Status cuLaunchCooperativeKernel(void* /*function*/, unsigned /*grid_x*/,
                                              unsigned /*grid_y*/, unsigned /*grid_z*/,
                                              unsigned /*block_x*/, unsigned /*block_y*/,
                                              unsigned /*block_z*/, unsigned /*shared_bytes*/,
                                              Stream* stream, void** /*arguments*/) {
  OHM_NEEDS_CUINIT;
  note_work(stream);
  return Status::success;
}

OHM_EXPORTED Status cuLaunchKernelEx(const DriverLaunchConfiguration* configuration,
                                     void* /*function*/, void** /*arguments*/, void** /*extra*/) {
  OHM_NEEDS_CUINIT;
  note_work(configuration->stream);
  return Status::success;
}
