// cuFFT: plans are numbers; its version.
#include <atomic>

#include "allocator_shim/interpose/entry_call.h"
#include "allocator_shim/interpose/exported.h"
#include "allocator_shim/interpose/objects.h"
#include "allocator_shim/interpose/toolkit_version.h"

using namespace ohm::interpose;

namespace {

constexpr int kInvalidFftValue = 4;

}  // namespace

OHM_EXPORTED int cufftCreate(int* plan) {
  OHM_LIBRARY_CALL(int);
  static std::atomic<int> plans = 0;
  *plan = ++plans;
  return 0;
}

OHM_EXPORTED int cufftGetProperty(int property, int* value) {
  const auto part = part_of_version(toolkit_of_process().cufft, property);
  if (!part || value == nullptr) return kInvalidFftValue;
  *value = *part;
  return kLibrarySuccess;
}

OHM_EXPORTED int cufftGetVersion(int* version) {
  if (version == nullptr) return kInvalidFftValue;
  *version = toolkit_of_process().cufft;
  return kLibrarySuccess;
}
