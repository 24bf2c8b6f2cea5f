#include "runtime/kernels/launch/row_kernels.h"

#include <algorithm>

#include "allocator_shim/base/assert.h"
#include "runtime/tensor/cuda_backend.h"

namespace ohm {
namespace {

/// A thread for each row reads memory in one go where rows are side by side, and these are
/// enough of them.
constexpr std::int64_t kFewestThreads = 1024;

bool is_there(const RowArgument& argument, const CudaBackend* backend) {
  const Tensor& tensor = argument.tensor;
  return !tensor.defined() || tensor.numel() == 0 || tensor.cuda_backend() == backend;
}

RowOperand operand_of(const RowArgument& argument, CudaAccess access) {
  const Tensor& tensor = argument.tensor;
  if (!tensor.defined()) return argument.operand;
  if (tensor.numel() == 0) return {};
  return {tensor.cuda_address(access), elements_behind(tensor), tensor.dtype()};
}

/// That of the first tensor that is on one.
const CudaBackend* cuda_backend_of(const RowArguments& arguments) {
  if (arguments.backend != nullptr) return arguments.backend;
  for (const auto* list : {&arguments.out, &arguments.in}) {
    for (const RowArgument& argument : *list) {
      const Tensor& tensor = argument.tensor;
      if (tensor.defined() && tensor.cuda_backend() != nullptr) return tensor.cuda_backend();
    }
  }
  return nullptr;
}

}  // namespace

std::int64_t elements_behind(const Tensor& tensor) {
  const std::size_t bytes = tensor.storage().bytes() - tensor.offset_bytes();
  return static_cast<std::int64_t>(bytes / item_bytes(tensor.dtype()));
}

functors::StridedIndex strided_index_of(const Tensor& tensor, std::uint32_t folded,
                                        bool are_folded) {
  functors::StridedIndex walk;
  for (int dim = 0; dim < tensor.dims(); ++dim) {
    const std::int64_t size = tensor.shape()[dim];
    const std::int64_t stride = tensor.strides()[dim];
    if (((folded >> static_cast<unsigned>(dim) & 1U) != 0) != are_folded || size == 1) continue;
    const bool continues = walk.dims > 0 && walk.strides[walk.dims - 1] == stride * size;
    const int to = continues ? walk.dims - 1 : walk.dims++;
    walk.sizes[to] = continues ? walk.sizes[to] * size : size;
    walk.strides[to] = stride;
  }
  return walk;
}

functors::PlaneLayout plane_layout_of(const Tensor& images) {
  const int channel = images.dims() - 3;
  const Shape& strides = images.strides();
  return {images.shape()[channel], channel == 0 ? 0 : strides[0], strides[channel],
          strides[channel + 1], strides[channel + 2]};
}

bool run_rows_on_cuda(const char* functor, const void* parameters, DType dtype,
                      const RowShape& shape, const RowArguments& arguments) {
  const CudaBackend* const backend = cuda_backend_of(arguments);
  if (backend == nullptr || !backend->kernels || !backend->kernels->has(functor, dtype))
    return false;
  const auto is_here = [backend](const RowArgument& argument) {
    return is_there(argument, backend);
  };
  if (!std::all_of(arguments.out.begin(), arguments.out.end(), is_here)) return false;
  if (!std::all_of(arguments.in.begin(), arguments.in.end(), is_here)) return false;
  OHM_ASSERT(arguments.out.size() + arguments.in.size() <= RowLaunch::kMostOperands,
             "a kernel of rows has ten operands at most");
  RowLaunch rows;
  rows.count = static_cast<std::uint64_t>(shape.count);
  rows.size = shape.size;
  rows.inner = shape.inner;
  rows.are_threads = shape.are_threads || (shape.inner > 1 && shape.count >= kFewestThreads);
  // Inputs first: an output may be the same memory.
  RowOperand* next = rows.operands + arguments.out.size();
  for (const RowArgument& in : arguments.in) *next++ = operand_of(in, CudaAccess::read);
  rows.operand_count = static_cast<int>(next - rows.operands);
  next = rows.operands;
  for (const RowArgument& out : arguments.out) *next++ = operand_of(out, CudaAccess::write);
  if (rows.count > 0) backend->kernels->launch(functor, dtype, rows, parameters);
  return true;
}

}  // namespace ohm
