// CUDA's driver: modules and their kernels, which are accepted and compute nothing.
#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

#include "allocator_shim/interpose/device_model.h"
#include "allocator_shim/interpose/entry_call.h"
#include "allocator_shim/interpose/exported.h"
#include "allocator_shim/interpose/gpu_system.h"
#include "allocator_shim/interpose/launch_limits.h"
#include "allocator_shim/interpose/modules.h"
#include "allocator_shim/interpose/objects.h"
#include "allocator_shim/interpose/status.h"
#include "allocator_shim/interpose/stub.h"
#include "allocator_shim/interpose/work_in_flight.h"

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

OHM_EXPORTED Status cuModuleLoadData(Module** module, const void* image) {
  OHM_CONTEXT_CALL;
  if (module == nullptr) return Status::invalid_value;
  return load_module(*module, image);
}

OHM_EXPORTED Status cuModuleLoadDataEx(Module** module, const void* image, unsigned /*count*/,
                                       void* /*options*/, void** /*values*/) {
  OHM_DRIVER_CALL;
  return cuModuleLoadData(module, image);
}

OHM_EXPORTED Status cuModuleLoad(Module** module, const char* path) {
  OHM_CONTEXT_CALL;
  if (module == nullptr || path == nullptr) return Status::invalid_value;
  return load_module_file(*module, path);
}

OHM_EXPORTED Status cuModuleLoadFatBinary(Module** module, const void* image) {
  OHM_DRIVER_CALL;
  return cuModuleLoadData(module, image);
}

OHM_EXPORTED Status cuModuleUnload(Module* module) {
  OHM_CONTEXT_CALL;
  return unload_module(module) ? Status::success : Status::invalid_handle;
}

OHM_EXPORTED Status cuModuleGetLoadingMode(int* mode) {
  OHM_DRIVER_CALL;
  constexpr int kLazy = 2;
  if (mode == nullptr) return Status::invalid_value;
  *mode = kLazy;
  return Status::success;
}

/// What was linked is accepted as any other image is.
OHM_EXPORTED Status cuLinkComplete(void* /*state*/, const void** image, std::size_t* bytes) {
  OHM_DRIVER_CALL;
  static constexpr std::array<char, 8> kLinked = {};
  if (image == nullptr) return Status::invalid_value;
  *image = kLinked.data();
  if (bytes != nullptr) *bytes = kLinked.size();
  return Status::success;
}

/// A library is its own module, and its kernels' handles are functions.
OHM_EXPORTED Status cuLibraryLoadData(Module** library, const void* image, void* /*options*/,
                                      void** /*values*/, unsigned /*count*/,
                                      void* /*library_options*/, void** /*library_values*/,
                                      unsigned /*library_count*/) {
  OHM_DRIVER_CALL;
  if (library == nullptr) return Status::invalid_value;
  return load_module(*library, image);
}

OHM_EXPORTED Status cuLibraryLoadFromFile(Module** library, const char* path, void* /*options*/,
                                          void** /*values*/, unsigned /*count*/,
                                          void* /*library_options*/, void** /*library_values*/,
                                          unsigned /*library_count*/) {
  OHM_DRIVER_CALL;
  if (library == nullptr || path == nullptr) return Status::invalid_value;
  return load_module_file(*library, path);
}

OHM_EXPORTED Status cuLibraryUnload(Module* library) {
  OHM_DRIVER_CALL;
  return unload_module(library) ? Status::success : Status::invalid_handle;
}

OHM_EXPORTED Status cuLibraryGetModule(Module** module, Module* library) {
  OHM_DRIVER_CALL;
  if (module == nullptr) return Status::invalid_value;
  if (!is_module(library)) return Status::invalid_handle;
  *module = library;
  return Status::success;
}

OHM_EXPORTED Status cuLibraryGetKernel(Kernel** kernel, Module* library, const char* name) {
  OHM_DRIVER_CALL;
  if (kernel == nullptr || name == nullptr) return Status::invalid_value;
  return find_kernel(*kernel, library, name);
}

OHM_EXPORTED Status cuKernelGetLibrary(Module** library, Kernel* kernel) {
  OHM_DRIVER_CALL;
  if (library == nullptr) return Status::invalid_value;
  if (!is_kernel(kernel)) return Status::invalid_handle;
  *library = module_of(kernel);
  return *library == nullptr ? Status::not_supported : Status::success;
}

OHM_EXPORTED Status cuKernelGetFunction(Kernel** function, Kernel* kernel) {
  OHM_DRIVER_CALL;
  if (function == nullptr) return Status::invalid_value;
  if (!is_kernel(kernel)) return Status::invalid_handle;
  *function = kernel;
  return Status::success;
}

OHM_EXPORTED Status cuModuleGetFunction(Kernel** function, Module* module, const char* name) {
  OHM_CONTEXT_CALL;
  if (function == nullptr || name == nullptr) return Status::invalid_value;
  return find_kernel(*function, module, name);
}

OHM_EXPORTED Status cuModuleGetGlobal_v2(void** address, std::size_t* bytes, Module* module,
                                         const char* name) {
  OHM_CONTEXT_CALL;
  if (name == nullptr) return Status::invalid_value;
  // What the stand-in's compilers make has no variables that are known.
  if (is_module(module) && !module->has_names) {
    report_unsupported("cuModuleGetGlobal_v2");
    return Status::not_supported;
  }
  void* found = nullptr;
  std::size_t found_bytes = 0;
  const Status status = find_global(found, found_bytes, module, name);
  if (status != Status::success) return status;
  if (address != nullptr) *address = found;
  if (bytes != nullptr) *bytes = found_bytes;
  return Status::success;
}

OHM_EXPORTED Status cuLibraryGetGlobal(void** address, std::size_t* bytes, Module* library,
                                       const char* name) {
  OHM_CONTEXT_CALL;
  return cuModuleGetGlobal_v2(address, bytes, library, name);
}

OHM_EXPORTED Status cuModuleGetFunctionCount(unsigned* count, Module* module) {
  OHM_DRIVER_CALL;
  if (count == nullptr) return Status::invalid_value;
  if (!is_module(module)) return Status::invalid_handle;
  *count = static_cast<unsigned>(module->names.size());
  return Status::success;
}

OHM_EXPORTED Status cuLibraryGetKernelCount(unsigned* count, Module* library) {
  OHM_DRIVER_CALL;
  return cuModuleGetFunctionCount(count, library);
}

OHM_EXPORTED Status cuModuleEnumerateFunctions(Kernel** functions, unsigned count, Module* module) {
  OHM_DRIVER_CALL;
  if (functions == nullptr || count == 0) return Status::invalid_value;
  if (!is_module(module)) return Status::invalid_handle;
  unsigned found = 0;
  for (const std::string& name : module->names) {
    if (found == count) break;
    const Status status = find_kernel(functions[found++], module, name.c_str());
    if (status != Status::success) return status;
  }
  return Status::success;
}

OHM_EXPORTED Status cuLibraryEnumerateKernels(Kernel** kernels, unsigned count, Module* library) {
  OHM_DRIVER_CALL;
  return cuModuleEnumerateFunctions(kernels, count, library);
}

OHM_EXPORTED Status cuFuncGetName(const char** name, Kernel* function) {
  OHM_DRIVER_CALL;
  if (name == nullptr) return Status::invalid_value;
  if (!is_kernel(function)) return Status::invalid_handle;
  *name = driver_name_of_kernel(function);
  return Status::success;
}

OHM_EXPORTED Status cuKernelGetName(const char** name, Kernel* kernel) {
  OHM_DRIVER_CALL;
  return cuFuncGetName(name, kernel);
}

/// CUfunctionLoadingState: there is nothing to load.
OHM_EXPORTED Status cuFuncIsLoaded(int* state, Kernel* function) {
  OHM_DRIVER_CALL;
  constexpr int kLoaded = 1;
  if (state == nullptr) return Status::invalid_value;
  if (!is_kernel(function)) return Status::invalid_handle;
  *state = kLoaded;
  return Status::success;
}

OHM_EXPORTED Status cuFuncLoad(Kernel* function) {
  OHM_DRIVER_CALL;
  return is_kernel(function) ? Status::success : Status::invalid_handle;
}

OHM_EXPORTED Status cuFuncGetModule(Module** module, Kernel* function) {
  OHM_DRIVER_CALL;
  if (module == nullptr) return Status::invalid_value;
  if (!is_kernel(function)) return Status::invalid_handle;
  *module = module_of(function);
  return *module == nullptr ? Status::not_supported : Status::success;
}

OHM_EXPORTED Status cuFuncGetAttribute(int* value, int attribute, Kernel* function) {
  OHM_DRIVER_CALL;
  if (value == nullptr) return Status::invalid_value;
  if (!is_kernel(function)) return Status::invalid_handle;
  constexpr int kAttributes = 16;
  if (attribute < 0 || attribute >= kAttributes) return Status::invalid_value;
  *value = attribute == kMaxThreadsAttribute  ? kMaxBlockThreads
           : attribute == kRegistersAttribute ? kKernelRegisters
                                              : 0;
  return Status::success;
}

/// What may be set is how much shared memory a block has, and of which size clusters are.
OHM_EXPORTED Status cuFuncSetAttribute(Kernel* function, int attribute, int value) {
  OHM_CONTEXT_CALL;
  constexpr int kDynamicSharedBytes = 8;
  constexpr int kAttributes = 16;
  if (!is_kernel(function)) return Status::invalid_handle;
  const bool is_too_large = attribute == kDynamicSharedBytes &&
                            value > architecture_of(gpus().profile()).shared_bytes_optin;
  const bool is_wrong = attribute < kDynamicSharedBytes || attribute >= kAttributes || is_too_large;
  return is_wrong || value < 0 ? Status::invalid_value : Status::success;
}

OHM_EXPORTED Status cuKernelGetAttribute(int* value, int attribute, Kernel* kernel,
                                         int /*device*/) {
  OHM_DRIVER_CALL;
  return cuFuncGetAttribute(value, attribute, kernel);
}

OHM_EXPORTED Status cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Kernel* function,
                                                                int threads,
                                                                std::size_t shared_bytes) {
  OHM_CONTEXT_CALL;
  if (blocks == nullptr || threads <= 0) return Status::invalid_value;
  if (!is_kernel(function)) return Status::invalid_handle;
  *blocks =
      threads > kMaxBlockThreads ? 0 : resident_blocks(gpus().profile(), threads, shared_bytes);
  return Status::success;
}

OHM_EXPORTED Status cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, Kernel* function, int threads, std::size_t shared_bytes, unsigned /*flags*/) {
  OHM_DRIVER_CALL;
  return cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, shared_bytes);
}

/// `shared_bytes_of` says how much dynamic shared memory a block of a size takes, where that is
/// not `shared_bytes` for all of them.
OHM_EXPORTED Status cuOccupancyMaxPotentialBlockSize(int* blocks, int* threads, Kernel* function,
                                                     std::size_t (*shared_bytes_of)(int threads),
                                                     std::size_t shared_bytes, int limit) {
  OHM_CONTEXT_CALL;
  if (blocks == nullptr || threads == nullptr) return Status::invalid_value;
  *threads = limit > 0 ? std::min(limit, kMaxBlockThreads) : kMaxBlockThreads;
  if (shared_bytes_of != nullptr) shared_bytes = shared_bytes_of(*threads);
  const Status status =
      cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, *threads, shared_bytes);
  if (status == Status::success) *blocks *= gpus().profile().multiprocessors;
  return status;
}

OHM_EXPORTED Status cuOccupancyMaxPotentialBlockSizeWithFlags(
    int* blocks, int* threads, Kernel* function, std::size_t (*shared_bytes_of)(int threads),
    std::size_t shared_bytes, int limit, unsigned /*flags*/) {
  OHM_DRIVER_CALL;
  return cuOccupancyMaxPotentialBlockSize(blocks, threads, function, shared_bytes_of, shared_bytes,
                                          limit);
}

OHM_EXPORTED Status cuOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, Kernel* function,
                                                            int blocks, int threads) {
  OHM_CONTEXT_CALL;
  if (bytes == nullptr || blocks <= 0 || threads <= 0) return Status::invalid_value;
  if (!is_kernel(function)) return Status::invalid_handle;
  *bytes = shared_bytes_of_each(gpus().profile(), blocks);
  return Status::success;
}

OHM_EXPORTED Status cuOccupancyMaxActiveClusters(
    int* clusters, Kernel* /*function*/, const DriverLaunchConfiguration* /*configuration*/) {
  OHM_CONTEXT_CALL;
  if (clusters == nullptr) return Status::invalid_value;
  *clusters = 1;
  return Status::success;
}

OHM_EXPORTED Status cuLaunchKernel(Kernel* function, unsigned grid_x, unsigned grid_y,
                                   unsigned grid_z, unsigned block_x, unsigned block_y,
                                   unsigned block_z, unsigned shared_bytes, Stream* stream,
                                   void** /*arguments*/, void** /*extra*/) {
  OHM_CONTEXT_CALL;
  if (!is_kernel(function) || !is_stream(stream)) return Status::invalid_handle;
  const Status status = check_launch(LaunchApi::driver, {grid_x, grid_y, grid_z},
                                     {block_x, block_y, block_z}, shared_bytes);
  if (status == Status::success) note_work(stream);
  return status;
}

OHM_EXPORTED Status cuLaunchCooperativeKernel(Kernel* function, unsigned grid_x, unsigned grid_y,
                                              unsigned grid_z, unsigned block_x, unsigned block_y,
                                              unsigned block_z, unsigned shared_bytes,
                                              Stream* stream, void** arguments) {
  OHM_DRIVER_CALL;
  const Status status = check_cooperative(LaunchApi::driver, {grid_x, grid_y, grid_z},
                                          {block_x, block_y, block_z}, shared_bytes);
  if (status != Status::success) return status;
  return cuLaunchKernel(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes,
                        stream, arguments, nullptr);
}

OHM_EXPORTED Status cuLaunchKernelEx(const DriverLaunchConfiguration* configuration,
                                     Kernel* function, void** arguments, void** extra) {
  OHM_DRIVER_CALL;
  if (configuration == nullptr) return Status::invalid_value;
  return cuLaunchKernel(function, configuration->grid_x, configuration->grid_y,
                        configuration->grid_z, configuration->block_x, configuration->block_y,
                        configuration->block_z, configuration->shared_bytes, configuration->stream,
                        arguments, extra);
}
