// CUPTI: its version.
#include "allocator_shim/interpose/exported.h"
#include "allocator_shim/interpose/objects.h"
#include "allocator_shim/interpose/toolkit_version.h"

using namespace ohm::interpose;

OHM_EXPORTED int cuptiGetVersion(unsigned* version) {
  constexpr int kInvalidParameter = 1;
  if (version == nullptr) return kInvalidParameter;
  *version = static_cast<unsigned>(toolkit_of_process().cupti);
  return kLibrarySuccess;
}
