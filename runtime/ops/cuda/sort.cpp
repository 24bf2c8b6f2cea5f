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

/// Two of them in one scratch, from one to the other of which the merges go.
struct RunMemory {
  RunMemory(const CudaKernels& kernels, std::int64_t count, DType dtype)
      : address(kernels.scratch(2 * bytes_of(count, dtype))),
        from(runs(0, count, dtype)),
        to(runs(1, count, dtype)) {}

  static std::size_t bytes_of(std::int64_t count, DType dtype) {
    constexpr std::size_t kAlignment = 16;
    const std::size_t bytes =
        static_cast<std::size_t>(count) * (item_bytes(dtype) + item_bytes(DType::int32));
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
  }
  SortedRows runs(std::uint64_t number, std::int64_t count, DType dtype) const {
    const std::uint64_t first = address + number * bytes_of(count, dtype);
    const std::uint64_t behind = first + static_cast<std::uint64_t>(count) * item_bytes(dtype);
    return {{first, count, dtype}, {behind, count, DType::int32}};
  }

  std::uint64_t address;
  SortedRows from;
  SortedRows to;
};

}  // namespace

std::optional<SortedRows> sorted_on_cuda(const Tensor& input, const Rows& rows,
                                         const functors::Ordering& precedes) {
  const CudaBackend* const backend = input.cuda_backend();
  const bool fits = backend != nullptr && backend->kernels && input.is_contiguous() &&
                    rows.size <= std::numeric_limits<std::int32_t>::max();
  if (!fits) return std::nullopt;
  const std::int64_t count = rows.count() * rows.size;
  const DType dtype = is_floating(input.dtype()) && input.dtype() != DType::float64
                          ? DType::float32
                          : DType::float64;
  RunMemory memory(*backend->kernels, count, dtype);
  if (memory.address == 0) return std::nullopt;
  using functors::SortedTile;
  bool is_done = are_rows_done_on_cuda(
      SortedTile{rows.size, rows.inner, precedes}, dtype,
      {.count = rows.count() * SortedTile::tiles(rows.size), .size = SortedTile::kElements},
      {{memory.from.elements, memory.from.places}, {input}});
  for (std::int64_t length = SortedTile::kElements; is_done && length < rows.size; length *= 2) {
    is_done = are_rows_done_on_cuda(functors::MergedRun{rows.size, length, precedes}, dtype,
                                    {.count = count, .are_threads = true},
                                    {{memory.to.elements, memory.to.places},
                                     {memory.from.elements, memory.from.places},
                                     backend});
    std::swap(memory.from, memory.to);
  }
  if (!is_done) return std::nullopt;
  return memory.from;
}

bool is_sorted_on_cuda(const RowSort& sort) {
  const Rows& rows = sort.rows;
  if (sort.input.cuda_backend() == nullptr || !sort.input.is_contiguous()) return false;
  if (rows.size <= kLongestRankedRow) return is_ranked(sort);
  const std::optional<SortedRows> sorted = sorted_on_cuda(sort.input, rows, sort.precedes);
  return sorted && are_rows_done_on_cuda(
                       functors::PickedOrder{rows.size, rows.inner, sort.picked},
                       sorted->elements.dtype, {.count = sort.values.numel(), .are_threads = true},
                       {{sort.values, sort.places}, {sorted->elements, sorted->places}});
}

}  // namespace ohm::ops
