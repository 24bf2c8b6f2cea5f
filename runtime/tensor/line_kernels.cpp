#include "runtime/tensor/line_kernels.h"

#include <algorithm>

#include "allocator_shim/observe/assert.h"
#include "runtime/tensor/card_backend.h"

namespace ohm {
namespace {

/// A thread for each line reads memory in one go where lines are side by side, and these are
/// enough of them.
constexpr std::int64_t kFewestThreads = 1024;

bool is_there(const Tensor& tensor, const CardBackend* card) {
  return !tensor.defined() || tensor.numel() == 0 || tensor.card() == card;
}

LineOperand operand_of(const Tensor& tensor, CardAccess access) {
  if (!tensor.defined() || tensor.numel() == 0) return {};
  const Storage& storage = tensor.storage();
  const std::size_t behind = storage.bytes() - tensor.offset_bytes();
  return {tensor.card_address(access),
          static_cast<std::int64_t>(behind / item_bytes(tensor.dtype())), tensor.dtype()};
}

}  // namespace

formulas::Walk walk_of(const Tensor& tensor, std::uint32_t folded, bool are_folded) {
  formulas::Walk walk;
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

LineShape folded_lines(const Tensor& out, const Tensor& tensor, const formulas::Walk& folded) {
  LineShape shape;
  shape.count = out.numel();
  shape.size = out.numel() == 0 ? 0 : tensor.numel() / out.numel();
  if (folded.dims > 0) shape.inner = folded.strides[folded.dims - 1];
  return shape;
}

bool run_lines_on_card(const char* formula, const void* parameters, DType dtype,
                       const LineShape& shape, const LineTensors& tensors) {
  const auto found = std::find_if(tensors.out.begin(), tensors.out.end(), [](const Tensor& out) {
    return out.defined() && out.card() != nullptr;
  });
  if (found == tensors.out.end()) return false;
  const CardBackend* card = found->card();
  if (!card->kernels || !card->kernels->has(formula, dtype)) return false;
  const auto is_here = [card](const Tensor& tensor) { return is_there(tensor, card); };
  if (!std::all_of(tensors.out.begin(), tensors.out.end(), is_here)) return false;
  if (!std::all_of(tensors.in.begin(), tensors.in.end(), is_here)) return false;
  OHM_ASSERT(tensors.out.size() + tensors.in.size() <= CardLines::kMostOperands,
             "a kernel of lines has eight operands at most");
  CardLines lines;
  lines.count = static_cast<std::uint64_t>(shape.count);
  lines.size = shape.size;
  lines.inner = shape.inner;
  lines.are_threads = shape.are_threads || (shape.inner > 1 && shape.count >= kFewestThreads);
  // Inputs first: an output may be the same memory.
  LineOperand* next = lines.operands + tensors.out.size();
  for (const Tensor& tensor : tensors.in) *next++ = operand_of(tensor, CardAccess::read);
  lines.operand_count = static_cast<int>(next - lines.operands);
  next = lines.operands;
  for (const Tensor& tensor : tensors.out) *next++ = operand_of(tensor, CardAccess::write);
  if (lines.count > 0) card->kernels->launch(formula, dtype, lines, parameters);
  return true;
}

}  // namespace ohm
