#include "runtime/kernels/launch/row_loops.h"

namespace ohm {
namespace {

RowOperand operand_on_host(const RowArgument& argument, bool is_written) {
  const Tensor& tensor = argument.tensor;
  if (!tensor.defined() || tensor.numel() == 0) return {};
  Storage& storage = tensor.storage();
  const std::byte* const values = is_written ? storage.values() : storage.read_values();
  return {reinterpret_cast<std::uintptr_t>(values + tensor.offset_bytes()), elements_behind(tensor),
          tensor.dtype()};
}

}  // namespace

RowLaunch rows_on_host(const RowShape& shape, const RowArguments& arguments) {
  RowLaunch rows;
  rows.count = static_cast<std::uint64_t>(shape.count);
  rows.size = shape.size;
  rows.inner = shape.inner;
  RowOperand* next = rows.operands;
  for (const RowArgument& out : arguments.out) *next++ = operand_on_host(out, true);
  for (const RowArgument& in : arguments.in) *next++ = operand_on_host(in, false);
  rows.operand_count = static_cast<int>(next - rows.operands);
  return rows;
}

}  // namespace ohm
