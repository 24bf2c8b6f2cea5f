// cuFFT: plans are numbers.
#include <atomic>

#include "allocator_shim/interpose/entry_call.h"
#include "allocator_shim/interpose/exported.h"

OHM_EXPORTED int cufftCreate(int* plan) {
  OHM_LIBRARY_CALL(int);
  static std::atomic<int> plans = 0;
  *plan = ++plans;
  return 0;
}
