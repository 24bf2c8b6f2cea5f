// Loops of functions and arithmetic: a kernel for each row of the list and compute type.
#include "runtime/kernels/cuda/elementwise.cuh"
#include "runtime/kernels/functors/functor_list.h"

OHM_FOR_EACH_MATH_FUNCTOR(OHM_FLOATING_KERNELS)
OHM_FOR_EACH_SPECIAL_FUNCTOR(OHM_FLOATING_KERNELS)
