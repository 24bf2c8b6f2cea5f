// cuSOLVER: its version.
#include "allocator_shim/interpose/exported.h"
#include "allocator_shim/interpose/objects.h"
#include "allocator_shim/interpose/toolkit_version.h"

using namespace ohm::interpose;

namespace {

constexpr int kInvalidSolverValue = 3;

}  // namespace

OHM_EXPORTED int cusolverGetProperty(int property, int* value) {
  const auto part = part_of_version(toolkit_of_process().cusolver, property);
  if (!part || value == nullptr) return kInvalidSolverValue;
  *value = *part;
  return kLibrarySuccess;
}

OHM_EXPORTED int cusolverGetVersion(int* version) {
  if (version == nullptr) return kInvalidSolverValue;
  *version = toolkit_of_process().cusolver;
  return kLibrarySuccess;
}
