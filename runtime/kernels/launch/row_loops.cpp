#include "runtime/kernels/launch/row_loops.h"

namespace ohm {
namespace {

LineOperand operand_on_host(const LineArgument& argument, bool is_written) {
  const Tensor& tensor = argument.tensor;
  if (!tensor.defined() || tensor.numel() == 0) return {};
  Storage& storage = tensor.storage();
  const std::byte* const values = is_written ? storage.values() : storage.read_values();
  return {reinterpret_cast<std::uintptr_t>(values + tensor.offset_bytes()), elements_behind(tensor),
          tensor.dtype()};
}

}  // namespace

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
