#include "runtime/tensor/line_kernels.h"

#include <algorithm>

#include "allocator_shim/base/assert.h"
#include "runtime/tensor/card_backend.h"
#include "runtime/tensor/line_loops.h"

namespace ohm {
namespace {

/// A thread for each line reads memory in one go where lines are side by side, and these are
/// enough of them.
constexpr std::int64_t kFewestThreads = 1024;

bool is_there(const LineArgument& argument, const CardBackend* card) {
  const Tensor& tensor = argument.tensor;
  return !tensor.defined() || tensor.numel() == 0 || tensor.card() == card;
}

/// From its first one to the end of the storage.
std::int64_t elements_behind(const Tensor& tensor) {
  const std::size_t bytes = tensor.storage().bytes() - tensor.offset_bytes();
  return static_cast<std::int64_t>(bytes / item_bytes(tensor.dtype()));
}

LineOperand operand_of(const LineArgument& argument, CardAccess access) {
  const Tensor& tensor = argument.tensor;
  if (!tensor.defined()) return argument.operand;
  if (tensor.numel() == 0) return {};
  return {tensor.card_address(access), elements_behind(tensor), tensor.dtype()};
}

LineOperand operand_on_host(const LineArgument& argument, bool is_written) {
  const Tensor& tensor = argument.tensor;
  if (!tensor.defined() || tensor.numel() == 0) return {};
  Storage& storage = tensor.storage();
  const std::byte* const values = is_written ? storage.values() : storage.read_values();
  return {reinterpret_cast<std::uintptr_t>(values + tensor.offset_bytes()), elements_behind(tensor),
          tensor.dtype()};
}

/// That of the first tensor that is on one.
const CardBackend* card_of(const LineArguments& arguments) {
  if (arguments.card != nullptr) return arguments.card;
  for (const auto* list : {&arguments.out, &arguments.in}) {
    for (const LineArgument& argument : *list) {
      const Tensor& tensor = argument.tensor;
      if (tensor.defined() && tensor.card() != nullptr) return tensor.card();
    }
  }
  return nullptr;
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

bool run_lines_on_card(const char* formula, const void* parameters, DType dtype,
                       const LineShape& shape, const LineArguments& arguments) {
  const CardBackend* const card = card_of(arguments);
  if (card == nullptr || !card->kernels || !card->kernels->has(formula, dtype)) return false;
  const auto is_here = [card](const LineArgument& argument) { return is_there(argument, card); };
  if (!std::all_of(arguments.out.begin(), arguments.out.end(), is_here)) return false;
  if (!std::all_of(arguments.in.begin(), arguments.in.end(), is_here)) return false;
  OHM_ASSERT(arguments.out.size() + arguments.in.size() <= CardLines::kMostOperands,
             "a kernel of lines has ten operands at most");
  CardLines lines;
  lines.count = static_cast<std::uint64_t>(shape.count);
  lines.size = shape.size;
  lines.inner = shape.inner;
  lines.are_threads = shape.are_threads || (shape.inner > 1 && shape.count >= kFewestThreads);
  // Inputs first: an output may be the same memory.
  LineOperand* next = lines.operands + arguments.out.size();
  for (const LineArgument& in : arguments.in) *next++ = operand_of(in, CardAccess::read);
  lines.operand_count = static_cast<int>(next - lines.operands);
  next = lines.operands;
  for (const LineArgument& out : arguments.out) *next++ = operand_of(out, CardAccess::write);
  if (lines.count > 0) card->kernels->launch(formula, dtype, lines, parameters);
  return true;
}

CardLines lines_on_host(const LineShape& shape, const LineArguments& arguments) {
  CardLines lines;
  lines.count = static_cast<std::uint64_t>(shape.count);
  lines.size = shape.size;
  lines.inner = shape.inner;
  LineOperand* next = lines.operands;
  for (const LineArgument& out : arguments.out) *next++ = operand_on_host(out, true);
  for (const LineArgument& in : arguments.in) *next++ = operand_on_host(in, false);
  lines.operand_count = static_cast<int>(next - lines.operands);
  return lines;
}

}  // namespace ohm
