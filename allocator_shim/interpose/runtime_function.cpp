#include "allocator_shim/interpose/runtime_function.h"

#include <string_view>

#include "allocator_shim/interpose/exported.h"
#include "allocator_shim/interpose/function_table.h"

using ohm::interpose::find_in_library;
using ohm::interpose::Function;

extern "C" {
void runtime_version_12();
void register_image_12();
void node_dependencies_12();
void prefetch_12();
void advise_12();
}

namespace {

/// exported.h: of OHM_VERSION.
Function only_in_12(std::string_view name) {
  if (name == "cudaRuntimeGetVersion") return &runtime_version_12;
  if (name == "__cudaRegisterFatBinary") return &register_image_12;
  if (name == "cudaGraphNodeGetDependencies") return &node_dependencies_12;
  if (name == "cudaMemPrefetchAsync") return &prefetch_12;
  if (name == "cudaMemAdvise") return &advise_12;
  return nullptr;
}

}  // namespace

OHM_EXPORTED Function ohm_find_runtime_function(const char* name, std::size_t length, int toolkit) {
  const std::string_view wanted(name, length);
  // Its older structure; programs of CUDA 12 call cudaGetDeviceProperties_v2.
  if (toolkit == 12 && wanted == "cudaGetDeviceProperties") return nullptr;
  const Function older = toolkit == 12 ? only_in_12(wanted) : nullptr;
  return older != nullptr ? older : find_in_library("cudart", wanted);
}
