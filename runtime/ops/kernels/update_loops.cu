// Loops of pieces, distances and updates: a kernel for each row of the list and compute type.
#include "runtime/ops/kernels/formula_list.h"
#include "runtime/ops/kernels/loops.cuh"

OHM_FOR_EACH_PIECE_FORMULA(OHM_FLOATING_KERNELS)
OHM_FOR_EACH_UPDATE_FORMULA(OHM_FLOATING_KERNELS)
