// An element-wise kernel's launch: what the kernel is given of its operands. nvcc reads this too.
#pragma once

#include <cstdint>

#include "runtime/base/dtype.h"
#include "runtime/base/shape.h"

namespace ohm {

/// What a kernel reads or writes: a tensor on the device, or one number for all elements.
struct ElementwiseOperand {
  std::uint64_t address = 0;  ///< of the first element
  double number = 0;          ///< where it is one
  bool is_number = false;
  DType dtype = DType::float32;
  std::int64_t strides[kMaxDims] = {};  ///< in elements; 0 where it is broadcast
};

/// out[i] = functor(in[0][i], …), the operands read as `dtype` and computed in its compute type.
struct ElementwiseLaunch {
  static constexpr int kMostInputs = 3;

  std::uint64_t count = 0;  ///< product of the sizes
  int dims = 0;
  std::int64_t sizes[kMaxDims] = {};
  DType dtype = DType::float32;
  /// Every operand is of `dtype`, row-major and aligned to 16 bytes, or one element for all.
  bool is_flat = false;
  ElementwiseOperand out;
  ElementwiseOperand in[kMostInputs];
};

}  // namespace ohm
