// Loops of pieces, distances and updates: a kernel for each row of the list and compute type.
#include "runtime/kernels/cuda/elementwise.cuh"
#include "runtime/kernels/functors/functor_list.h"

OHM_FOR_EACH_PIECE_FORMULA(OHM_FLOATING_KERNELS)
OHM_FOR_EACH_UPDATE_FORMULA(OHM_FLOATING_KERNELS)
