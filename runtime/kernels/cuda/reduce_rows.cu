// Folds, norms of channels, recurrent cells and images on a CUDA device: a kernel for each row of
// the list and compute type.
#include "runtime/kernels/cuda/rows.cuh"
#include "runtime/kernels/functors/functor_list.h"

#define OHM_ROW(name, Functor, ...)         \
  OHM_KERNEL(name, Functor, float32, float) \
  OHM_KERNEL(name, Functor, float64, double)
OHM_FOR_EACH_REDUCTION_ROW(OHM_ROW)
#undef OHM_ROW
