// Loops of every dtype, and of an element's number: a kernel for each row of the list and compute
// type.
#include "runtime/kernels/cuda/elementwise.cuh"
#include "runtime/kernels/functors/functor_list.h"

OHM_FOR_EACH_GENERAL_FORMULA(OHM_FLOATING_KERNELS)
#define OHM_ROW(name, Formula, operands, ...) \
  OHM_KERNEL(name, Formula, operands, int64, std::int64_t)
OHM_FOR_EACH_GENERAL_FORMULA(OHM_ROW)
#undef OHM_ROW
#define OHM_ROW(name, Formula, ...)                                                           \
  extern "C" __global__ void ohm_##name##_float32(const __grid_constant__ ohm::CardLoop loop, \
                                                  const ohm::formulas::Formula formula) {     \
    ohm::ops::kernels::generate(loop, formula);                                               \
  }
OHM_FOR_EACH_GENERATOR(OHM_ROW)
#undef OHM_ROW
