// Loops of every dtype, and of an element's number: a kernel for each row of the list and compute
// type.
#include "runtime/kernels/cuda/elementwise.cuh"
#include "runtime/kernels/functors/functor_list.h"

OHM_FOR_EACH_GENERAL_FUNCTOR(OHM_FLOATING_KERNELS)
#define OHM_ROW(name, Functor, operands, ...) \
  OHM_KERNEL(name, Functor, operands, int64, std::int64_t)
OHM_FOR_EACH_GENERAL_FUNCTOR(OHM_ROW)
#undef OHM_ROW
#define OHM_ROW(name, Functor, ...)                                                                \
  extern "C" __global__ void ohm_##name##_float32(                                                 \
      const __grid_constant__ ohm::ElementwiseLaunch loop, const ohm::functors::Functor functor) { \
    ohm::kernels::generate(loop, functor);                                                         \
  }
OHM_FOR_EACH_GENERATOR(OHM_ROW)
#undef OHM_ROW
