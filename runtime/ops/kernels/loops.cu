// Loops of functions and arithmetic: a kernel for each row of the list and compute type.
#include "runtime/ops/kernels/formula_list.h"
#include "runtime/ops/kernels/loops.cuh"

OHM_FOR_EACH_FUNCTION_FORMULA(OHM_FLOATING_KERNELS)
