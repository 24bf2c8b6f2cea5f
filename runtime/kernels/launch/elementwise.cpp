#include "runtime/kernels/launch/elementwise.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <vector>

#include "allocator_shim/base/assert.h"
#include "runtime/base/running_op.h"
#include "runtime/base/strided.h"
#include "runtime/kernels/launch/packed_chunks.h"
#include "runtime/tensor/cuda_backend.h"

namespace ohm {

namespace {

/// A kernel's threads read and write so many bytes at once.
constexpr std::uint64_t kAccessBytes = 16;

bool is_everything(const Tensor& tensor) {
  return tensor.nbytes() == tensor.storage().bytes() && tensor.is_dense();
}

/// Whether a kernel on `out`'s device can read it; a single element of the host is sent along.
bool is_readable(const ElementwiseInput& input, const Tensor& out) {
  if (input.tensor == nullptr) return true;
  const Tensor& tensor = *input.tensor;
  const bool is_host_number =
      tensor.device().is_cpu() && tensor.numel() == 1 && tensor.dtype() != DType::int64;
  return is_host_number || tensor.device() == out.device();
}

ElementwiseOperand operand_of(const Tensor& tensor, const Shape& shape) {
  ElementwiseOperand operand;
  operand.dtype = tensor.dtype();
  const Shape strides = broadcast_strides(tensor.shape(), tensor.strides(), shape);
  std::copy(strides.begin(), strides.end(), operand.strides);
  return operand;
}

/// The number that a single element of the host is, rounded as it would be when read as `dtype`.
double rounded_item(const Tensor& tensor, DType dtype) {
  return visit_dtype(dtype, [&]<class T>(TypeTag<T>) {
    return convert_element<double>(convert_element<T>(tensor.item()));
  });
}

ElementwiseOperand operand_of(const ElementwiseInput& input, const Tensor& out, DType dtype) {
  ElementwiseOperand operand;
  if (input.tensor != nullptr && input.tensor->device() == out.device()) {
    operand = operand_of(*input.tensor, out.shape());
    operand.address = input.tensor->cuda_address(CudaAccess::read);
    return operand;
  }
  operand.is_number = true;
  operand.number = input.tensor == nullptr ? input.number : rounded_item(*input.tensor, dtype);
  return operand;
}

/// Dimensions that every operand walks through in one go become one; those of size 1 go.
void merge_dimensions(ElementwiseLaunch& loop, const std::vector<ElementwiseOperand*>& operands) {
  int kept = 0;
  for (int dim = 0; dim < loop.dims; ++dim) {
    if (loop.sizes[dim] == 1) continue;
    const bool continues =
        kept > 0 &&
        std::all_of(operands.begin(), operands.end(), [&](const ElementwiseOperand* operand) {
          return operand->strides[kept - 1] == operand->strides[dim] * loop.sizes[dim];
        });
    const int to = continues ? kept - 1 : kept++;
    loop.sizes[to] = continues ? loop.sizes[to] * loop.sizes[dim] : loop.sizes[dim];
    for (ElementwiseOperand* operand : operands) operand->strides[to] = operand->strides[dim];
  }
  loop.dims = kept;
}

bool is_flat(const ElementwiseLaunch& loop, const ElementwiseOperand& operand) {
  return operand.dtype == loop.dtype && operand.address % kAccessBytes == 0 &&
         (loop.dims == 0 || operand.strides[0] == 1);
}

bool is_flat(const ElementwiseLaunch& loop, const std::vector<ElementwiseOperand*>& operands) {
  if (loop.dims > 1 || !is_flat(loop, loop.out)) return false;
  return std::all_of(operands.begin() + 1, operands.end(), [&](const ElementwiseOperand* operand) {
    const bool is_one = operand->is_number || (loop.dims == 1 && operand->strides[0] == 0);
    return is_one || is_flat(loop, *operand);
  });
}

}  // namespace

bool run_on_cuda(const char* kernel, const void* parameters, DType dtype, const Tensor& out,
                 std::initializer_list<ElementwiseInput> inputs) {
  const CudaBackend* backend = out.cuda_backend();
  if (backend == nullptr || !backend->kernels || !backend->kernels->has(kernel, dtype))
    return false;
  const auto can_be_read = [&](const ElementwiseInput& input) { return is_readable(input, out); };
  if (!std::all_of(inputs.begin(), inputs.end(), can_be_read)) return false;
  if (out.numel() == 0) return true;
  ElementwiseLaunch loop;
  loop.count = static_cast<std::uint64_t>(out.numel());
  loop.dtype = dtype;
  loop.dims = out.dims();
  std::copy(out.shape().begin(), out.shape().end(), loop.sizes);
  ElementwiseOperand* next = loop.in;
  for (const ElementwiseInput& input : inputs) *next++ = operand_of(input, out, dtype);
  loop.out = operand_of(out, out.shape());
  // Last: what it is computed from may be the same memory.
  loop.out.address =
      out.cuda_address(is_everything(out) ? CudaAccess::overwrite : CudaAccess::write);
  std::vector<ElementwiseOperand*> operands = {&loop.out};
  for (ElementwiseOperand* operand = loop.in; operand != next; ++operand)
    operands.push_back(operand);
  merge_dimensions(loop, operands);
  loop.is_flat = is_flat(loop, operands);
  backend->kernels->launch(kernel, loop, parameters);
  return true;
}

namespace {

constexpr std::size_t kMostInputs = 3;

bool has_values(const ElementwiseInput& input) {
  return input.tensor == nullptr || input.tensor->has_values();
}

bool is_packed_input(const ElementwiseInput& input, const Tensor& out, DType dtype) {
  return input.tensor != nullptr && is_packed(*input.tensor, dtype) &&
         input.tensor->shape() == out.shape();
}

const void* values_of(const ElementwiseInput& input) {
  return input.tensor->storage().read_values() + input.tensor->offset_bytes();
}

ChunkReader reader_of(const ElementwiseInput& input, const Tensor& out, DType dtype) {
  const DType compute = compute_dtype(dtype);
  if (input.tensor == nullptr) return {input.number, out.numel(), compute};
  return {*input.tensor, out.shape(), dtype, compute};
}

// Where all tensors are packed the loop runs once, over their own memory.
template <std::size_t... K>
void run_on_host(const ElementwiseFunction& function, DType dtype, const Tensor& out,
                 const ElementwiseInput* inputs, std::index_sequence<K...>) {
  const std::int64_t count = out.numel();
  if (dtype == compute_dtype(dtype) && is_packed(out, function.result) &&
      (is_packed_input(inputs[K], out, dtype) && ...)) {
    const std::array<const void*, sizeof...(K)> in = {values_of(inputs[K])...};
    function.loop(function.function, out.storage().values() + out.offset_bytes(), in.data(), count);
    return;
  }
  std::array<ChunkReader, sizeof...(K)> readers = {reader_of(inputs[K], out, dtype)...};
  ChunkWriter writer(out, function.result);
  for (std::int64_t done = 0; done < count; done += kChunkElements) {
    const std::int64_t now = std::min(kChunkElements, count - done);
    const std::array<const void*, sizeof...(K)> in = {readers[K].next(now)...};
    function.loop(function.function, writer.begin(), in.data(), now);
    writer.commit(now);
  }
}

}  // namespace

void run_elementwise(const ElementwiseFunction& function, DType dtype, const Tensor& out,
                     std::initializer_list<ElementwiseInput> inputs) {
  OHM_ASSERT(inputs.size() >= 1 && inputs.size() <= kMostInputs, "loops have one to three inputs");
  if (!out.has_values() || !std::all_of(inputs.begin(), inputs.end(), has_values)) return;
  if (function.kernel != nullptr &&
      run_on_cuda(function.kernel, function.function, dtype, out, inputs)) {
    return;
  }
  if (inputs.size() == 1) {
    run_on_host(function, dtype, out, inputs.begin(), std::make_index_sequence<1>());
  } else if (inputs.size() == 2) {
    run_on_host(function, dtype, out, inputs.begin(), std::make_index_sequence<2>());
  } else {
    run_on_host(function, dtype, out, inputs.begin(), std::make_index_sequence<kMostInputs>());
  }
}

}  // namespace ohm
