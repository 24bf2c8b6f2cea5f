// CUDA's runtime: libraries of kernels that programs load, which are the driver's modules.
#include <cstddef>

#include "allocator_shim/interpose/entry_call.h"
#include "allocator_shim/interpose/exported.h"
#include "allocator_shim/interpose/modules.h"
#include "allocator_shim/interpose/status.h"

using namespace ohm::interpose;

extern "C" {
Status cuModuleGetGlobal_v2(void** address, std::size_t* bytes, Module* module, const char* name);
Status cuModuleGetFunctionCount(unsigned* count, Module* module);
Status cuModuleEnumerateFunctions(Kernel** functions, unsigned count, Module* module);
}

OHM_EXPORTED Status cudaLibraryLoadData(Module** library, const void* image, void* /*options*/,
                                        void** /*values*/, unsigned /*count*/,
                                        void* /*library_options*/, void** /*library_values*/,
                                        unsigned /*library_count*/) {
  OHM_RUNTIME_CALL;
  if (library == nullptr) return noted(Status::invalid_value);
  return noted(load_module(*library, image));
}

OHM_EXPORTED Status cudaLibraryLoadFromFile(Module** library, const char* path, void* /*options*/,
                                            void** /*values*/, unsigned /*count*/,
                                            void* /*library_options*/, void** /*library_values*/,
                                            unsigned /*library_count*/) {
  OHM_RUNTIME_CALL;
  if (library == nullptr || path == nullptr) return noted(Status::invalid_value);
  return noted(load_module_file(*library, path));
}

OHM_EXPORTED Status cudaLibraryUnload(Module* library) {
  OHM_RUNTIME_CALL;
  return unload_module(library) ? Status::success : noted(Status::invalid_handle);
}

OHM_EXPORTED Status cudaLibraryGetKernel(Kernel** kernel, Module* library, const char* name) {
  OHM_RUNTIME_CALL;
  if (kernel == nullptr || name == nullptr) return noted(Status::invalid_value);
  return noted(find_kernel(*kernel, library, name));
}

OHM_EXPORTED Status cudaLibraryGetGlobal(void** address, std::size_t* bytes, Module* library,
                                         const char* name) {
  OHM_RUNTIME_CALL;
  return noted(cuModuleGetGlobal_v2(address, bytes, library, name));
}

OHM_EXPORTED Status cudaLibraryGetKernelCount(unsigned* count, Module* library) {
  OHM_RUNTIME_CALL;
  return noted(cuModuleGetFunctionCount(count, library));
}

OHM_EXPORTED Status cudaLibraryEnumerateKernels(Kernel** kernels, unsigned count, Module* library) {
  OHM_RUNTIME_CALL;
  return noted(cuModuleEnumerateFunctions(kernels, count, library));
}
