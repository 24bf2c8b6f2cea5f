// cuSPARSE: its version.
#include "allocator_shim/interpose/exported.h"
#include "allocator_shim/interpose/objects.h"
#include "allocator_shim/interpose/toolkit_version.h"

using namespace ohm::interpose;

OHM_EXPORTED int cusparseGetVersion(void* /*handle*/, int* version) {
  *version = toolkit_of_process().cusparse;
  return kLibrarySuccess;
}
