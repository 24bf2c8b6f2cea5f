// The element-wise kernels of real cards: the only list. nvcc makes a kernel of each row and
// element type, the host a twin of the same formula.
#pragma once

#include "runtime/ops/formulas/activation.h"

// ROW(name, formula): out[i] = formula(a[i])
#define OHM_FOR_EACH_UNARY_KERNEL(ROW) \
  ROW(relu, Relu)                      \
  ROW(sigmoid, Sigmoid)                \
  ROW(tanh, Tanh)                      \
  ROW(gelu, Gelu)                      \
  ROW(tanh_gelu, TanhGelu)             \
  ROW(silu, Silu)                      \
  ROW(mish, Mish)                      \
  ROW(logsigmoid, LogSigmoid)

// ROW(name, formula): out[i] = formula(a[i], b[i])
#define OHM_FOR_EACH_BINARY_KERNEL(ROW) \
  ROW(relu_slope, ReluSlope)            \
  ROW(sigmoid_slope, SigmoidSlope)      \
  ROW(tanh_slope, TanhSlope)            \
  ROW(gelu_slope, GeluSlope)            \
  ROW(tanh_gelu_slope, TanhGeluSlope)   \
  ROW(silu_slope, SiluSlope)            \
  ROW(mish_slope, MishSlope)            \
  ROW(logsigmoid_slope, LogSigmoidSlope)
