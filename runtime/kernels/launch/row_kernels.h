// Running a functor of rows on the device that its operands are on.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "runtime/kernels/functors/plane_layout.h"
#include "runtime/kernels/functors/reduce_split.h"
#include "runtime/kernels/functors/row_launch.h"
#include "runtime/tensor/tensor.h"

namespace ohm {

/// See RowLaunch.
struct RowShape {
  std::int64_t count = 0;
  std::int64_t size = 1;
  std::int64_t inner = 1;
  bool are_threads = false;  ///< else a block for each row, where that does not read across rows
};

/// How the dimensions in `folded`, or the others, are walked through; neighbours that are walked
/// through in one go become one.
functors::StridedIndex strided_index_of(const Tensor& tensor, std::uint32_t folded,
                                        bool are_folded);

/// The layout of [N, C, H, W] or [C, H, W].
functors::PlaneLayout plane_layout_of(const Tensor& images);

/// A tensor, or memory of the device that the tensors beside it are on.
struct RowArgument {
  RowArgument(Tensor of) : tensor(std::move(of)) {}   // NOLINT(google-explicit-constructor)
  RowArgument(const RowOperand& of) : operand(of) {}  // NOLINT(google-explicit-constructor)

  Tensor tensor;
  RowOperand operand;  ///< where there is no tensor
};

/// What the kernel writes and then what it reads; an undefined tensor is left out. The kernel reads
/// offsets from a tensor's first element as if it was row-major.
struct RowArguments {
  std::vector<RowArgument> out;
  std::vector<RowArgument> in;
  const CudaBackend* backend = nullptr;  ///< where no tensor tells
};

/// Whether a kernel can read it: row by row, or left out.
inline bool is_row_major_or_undefined(const Tensor& tensor) {
  return !tensor.defined() || tensor.is_contiguous();
}

/// The elements from a tensor's first one to the end of its storage.
std::int64_t elements_behind(const Tensor& tensor);

/// False where it cannot run on the device that the tensors are on: nothing was done. `dtype`: of
/// the elements that it computes with.
bool run_rows_on_cuda(const char* functor, const void* parameters, DType dtype,
                      const RowShape& shape, const RowArguments& arguments);

template <class Functor>
bool are_rows_done_on_cuda(const Functor& functor, DType dtype, const RowShape& shape,
                           const RowArguments& arguments) {
  return run_rows_on_cuda(Functor::kKernel, &functor, dtype, shape, arguments);
}

}  // namespace ohm
