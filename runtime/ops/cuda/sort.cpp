#include "runtime/ops/cuda/sort.h"

#include <limits>
#include <utility>

#include "runtime/kernels/launch/row_kernels.h"
#include "runtime/tensor/cuda_backend.h"

namespace ohm::ops {
namespace {

/// Up to here every element is compared with every other one of its row: in one launch, and
/// without any memory.
constexpr std::int64_t kLongestRankedRow = 256;

bool is_ranked(const RowSort& sort) {
  const Rows& rows = sort.rows;
  return are_rows_done_on_cuda(functors::TopkRow{sort.picked, sort.precedes}, DType::float64,
                               {rows.count(), rows.size, rows.inner},
                               {{sort.values, sort.places}, {sort.input}});
}

/// Elements and their places, row by row.
struct Runs {
  RowOperand elements;
  RowOperand places;
};

/// Two of them, from one to the other of which the merges go.
struct RunMemory {
  RunMemory(const CudaKernels& kernels, std::int64_t count, DType dtype)
      : scratch(kernels, 2 * bytes_of(count, dtype)),
        from(runs(0, count, dtype)),
        to(runs(1, count, dtype)) {}

  static std::size_t bytes_of(std::int64_t count, DType dtype) {
    constexpr std::size_t kAlignment = 16;
    const std::size_t bytes =
        static_cast<std::size_t>(count) * (item_bytes(dtype) + item_bytes(DType::int32));
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
  }
  Runs runs(std::uint64_t number, std::int64_t count, DType dtype) const {
    const std::uint64_t first = scratch.address() + number * bytes_of(count, dtype);
    const std::uint64_t behind = first + static_cast<std::uint64_t>(count) * item_bytes(dtype);
    return {{first, count, dtype}, {behind, count, DType::int32}};
  }

  CudaScratch scratch;
  Runs from;
  Runs to;
};

bool is_sorted_by_tiles(const RowSort& sort) {
  const Rows& rows = sort.rows;
  const std::int64_t count = rows.count() * rows.size;
  // Halves fit into float32, integers are compared as float64.
  const DType dtype = is_floating(sort.input.dtype()) && sort.input.dtype() != DType::float64
                          ? DType::float32
                          : DType::float64;
  RunMemory memory(*sort.input.cuda_backend()->kernels, count, dtype);
  if (memory.scratch.address() == 0) return false;
  using functors::SortedTile;
  bool is_done = are_rows_done_on_cuda(
      SortedTile{rows.size, rows.inner, sort.precedes}, dtype,
      {.count = rows.count() * SortedTile::tiles(rows.size), .size = SortedTile::kElements},
      {{memory.from.elements, memory.from.places}, {sort.input}});
  for (std::int64_t length = SortedTile::kElements; is_done && length < rows.size; length *= 2) {
    is_done = are_rows_done_on_cuda(functors::MergedRun{rows.size, length, sort.precedes}, dtype,
                                    {.count = count, .are_threads = true},
                                    {{memory.to.elements, memory.to.places},
                                     {memory.from.elements, memory.from.places},
                                     sort.input.cuda_backend()});
    std::swap(memory.from, memory.to);
  }
  return is_done && are_rows_done_on_cuda(
                        functors::PickedOrder{rows.size, rows.inner, sort.picked}, dtype,
                        {.count = sort.values.numel(), .are_threads = true},
                        {{sort.values, sort.places}, {memory.from.elements, memory.from.places}});
}

}  // namespace

bool is_sorted_on_cuda(const RowSort& sort) {
  const CudaBackend* const backend = sort.input.cuda_backend();
  const bool fits = backend != nullptr && backend->kernels && sort.input.is_contiguous() &&
                    sort.rows.size <= std::numeric_limits<std::int32_t>::max();
  if (!fits) return false;
  return sort.rows.size <= kLongestRankedRow ? is_ranked(sort) : is_sorted_by_tiles(sort);
}

}  // namespace ohm::ops
