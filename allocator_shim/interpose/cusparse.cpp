// cuSPARSE: its version.
#include "allocator_shim/interpose/exported.h"
#include "allocator_shim/interpose/objects.h"
#include "allocator_shim/interpose/toolkit_version.h"

using namespace ohm::interpose;

namespace {

constexpr int kInvalidSparseValue = 3;

}  // namespace

OHM_EXPORTED int cusparseGetProperty(int property, int* value) {
  const auto part = part_of_version(toolkit_of_process().cusparse, property);
  if (!part || value == nullptr) return kInvalidSparseValue;
  *value = *part;
  return kLibrarySuccess;
}

OHM_EXPORTED int cusparseGetVersion(void* /*handle*/, int* version) {
  *version = toolkit_of_process().cusparse;
  return kLibrarySuccess;
}
