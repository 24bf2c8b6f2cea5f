// Loops of pieces, distances and updates: a kernel for each row of the list and compute type.
#include "runtime/kernels/cuda/elementwise.cuh"
#include "runtime/kernels/functors/functor_list.h"

OHM_FOR_EACH_PIECEWISE_FUNCTOR(OHM_FLOATING_KERNELS)
OHM_FOR_EACH_UPDATE_FUNCTOR(OHM_FLOATING_KERNELS)
