#include "runtime/ops/sorting/cuda/sort.h"

#include <limits>
#include <utility>
#include <vector>

#include "runtime/kernels/functors/digit_sort.h"
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

/// Up to here sorted tiles are merged, for all of their digits at once.
constexpr std::int64_t kLongestMergedRow = 16 * functors::SortedTile::kElements;

/// What is sorted, and how its elements are computed with.
struct Sorted {
  const Tensor& input;
  const Rows& rows;
  functors::Ordering precedes;
  DType dtype;

  std::int64_t count() const { return rows.count() * rows.size; }
};

constexpr std::uint64_t aligned(std::uint64_t bytes) {
  constexpr std::uint64_t kAlignment = 16;
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

/// Two of them, from one to the other of which elements go.
struct RunMemory {
  RunMemory(std::uint64_t address, std::int64_t count, DType dtype)
      : from(runs(address, count, dtype)),
        to(runs(address + bytes_of(count, dtype) / 2, count, dtype)) {}

  static std::uint64_t bytes_of(std::int64_t count, DType dtype) {
    return 2 * aligned(static_cast<std::uint64_t>(count) *
                       (item_bytes(dtype) + item_bytes(DType::int32)));
  }
  static SortedRows runs(std::uint64_t first, std::int64_t count, DType dtype) {
    const std::uint64_t behind = first + static_cast<std::uint64_t>(count) * item_bytes(dtype);
    return {{first, count, dtype}, {behind, count, DType::int32}};
  }

  SortedRows from;
  SortedRows to;
};

/// `out`: the elements and their places, by rows.
bool are_tiles_sorted(const Sorted& sorted, const std::vector<RowArgument>& out) {
  using functors::SortedTile;
  const Rows& rows = sorted.rows;
  return are_rows_done_on_cuda(
      SortedTile{rows.size, rows.inner, sorted.precedes}, sorted.dtype,
      {.count = rows.count() * SortedTile::tiles(rows.size), .size = SortedTile::kElements},
      {out, {sorted.input}});
}

std::optional<SortedRows> merged(const Sorted& sorted, const CudaBackend& backend) {
  const Rows& rows = sorted.rows;
  const std::int64_t count = sorted.count();
  const std::uint64_t address = backend.kernels->scratch(RunMemory::bytes_of(count, sorted.dtype));
  if (address == 0) return std::nullopt;
  RunMemory memory(address, count, sorted.dtype);
  bool is_done = are_tiles_sorted(sorted, {memory.from.elements, memory.from.places});
  for (std::int64_t length = functors::SortedTile::kElements; is_done && length < rows.size;
       length *= 2) {
    is_done = are_rows_done_on_cuda(functors::MergedRun{rows.size, length, sorted.precedes},
                                    sorted.dtype, {.count = count, .are_threads = true},
                                    {{memory.to.elements, memory.to.places},
                                     {memory.from.elements, memory.from.places},
                                     &backend});
    std::swap(memory.from, memory.to);
  }
  if (!is_done) return std::nullopt;
  return memory.from;
}

// ---- digit by digit -----------------------------------------------------------------------------

/// The first bit that may be set in any key: those of numbers that were stored in fewer are 0.
int first_bit_of(DType stored) {
  switch (stored) {
    case DType::bfloat16:
      return 16;
    case DType::float16:
      return 8;
    case DType::int32:
      return 16;
    case DType::uint8:
    case DType::boolean:
      return 40;
    default:
      return 0;
  }
}

/// Where the elements of a digit go.
struct DigitMemory {
  DigitMemory(std::uint64_t address, std::int64_t rows, std::int64_t tiles)
      : counts{address, rows * functors::DigitOrder::kValues * tiles, DType::int32},
        in_all{address + static_cast<std::uint64_t>(counts.count) * item_bytes(DType::int32),
               rows * functors::DigitOrder::kValues, DType::int32} {}

  static std::uint64_t bytes_of(std::int64_t rows, std::int64_t tiles) {
    const auto digits = static_cast<std::uint64_t>(rows * functors::DigitOrder::kValues);
    return digits * (static_cast<std::uint64_t>(tiles) + 1) * item_bytes(DType::int32);
  }

  RowOperand counts;
  RowOperand in_all;
};

/// Of a round: the places may be left out.
struct Move {
  RowArgument elements;
  RowArgument places;
  RowArgument elements_before;
  RowArgument places_before;
};

bool is_moved_by(const functors::DigitOrder& order, const functors::DigitTiles& layout,
                 const Sorted& sorted, const DigitMemory& memory, const Move& move) {
  const std::int64_t rows = sorted.rows.count();
  const RowShape by_tiles{.count = rows * layout.tiles(), .size = layout.length};
  // Few tiles: there is nothing for a block to share out.
  constexpr std::int64_t kFewTiles = 32;
  const RowShape by_digits{.count = rows * functors::DigitOrder::kValues,
                           .size = layout.tiles(),
                           .are_threads = layout.tiles() < kFewTiles};
  const CudaBackend* const backend = sorted.input.cuda_backend();
  return are_rows_done_on_cuda(functors::DigitCounts{layout, order}, sorted.dtype, by_tiles,
                               {{memory.counts}, {move.elements_before}, backend}) &&
         are_rows_done_on_cuda(functors::CountsBefore(), sorted.dtype, by_digits,
                               {{memory.counts, memory.in_all}, {}, backend}) &&
         are_rows_done_on_cuda(
             functors::MovedByDigit{layout, order}, sorted.dtype, by_tiles,
             {{move.elements, move.places},
              {memory.counts, memory.in_all, move.elements_before, move.places_before},
              backend});
}

/// `result`: where the last round puts them, as they are sorted; else in scratch.
std::optional<SortedRows> sorted_by_digits(const Sorted& sorted, const CudaBackend& backend,
                                           const RowSort* result) {
  const Rows& rows = sorted.rows;
  const bool is_float = sorted.dtype == DType::float32;
  functors::DigitTiles layout{
      rows.size, rows.inner,
      is_float ? functors::DigitTiles::kLength<float> : functors::DigitTiles::kLength<double>};
  const std::uint64_t of_runs = RunMemory::bytes_of(sorted.count(), sorted.dtype);
  const std::uint64_t address =
      backend.kernels->scratch(of_runs + DigitMemory::bytes_of(rows.count(), layout.tiles()));
  if (address == 0) return std::nullopt;
  RunMemory memory(address, sorted.count(), sorted.dtype);
  const DigitMemory digits(address + of_runs, rows.count(), layout.tiles());
  const int bits = static_cast<int>(8 * item_bytes(sorted.dtype));
  const int first_bit = first_bit_of(sorted.input.dtype());
  for (int bit = first_bit; bit < bits; bit += functors::DigitOrder::kBits) {
    Move move{memory.to.elements, memory.to.places, memory.from.elements, memory.from.places};
    if (bit == first_bit) {
      move.elements_before = RowArgument(sorted.input);
      move.places_before = RowArgument(RowOperand());
    }
    if (result != nullptr && bit + functors::DigitOrder::kBits >= bits) {
      move.elements = RowArgument(result->values);
      move.places = RowArgument(result->places);
    }
    const functors::DigitOrder order{bit, functors::DigitOrder::kBits, sorted.precedes};
    if (!is_moved_by(order, layout, sorted, digits, move)) return std::nullopt;
    layout.inner = 1;
    std::swap(memory.from, memory.to);
  }
  return memory.from;
}

/// Nothing where the input is not a row-major one on a CUDA device.
std::optional<Sorted> sortable(const Tensor& input, const Rows& rows,
                               const functors::Ordering& precedes) {
  const CudaBackend* const backend = input.cuda_backend();
  const bool fits = backend != nullptr && backend->kernels && input.is_contiguous() &&
                    rows.size <= std::numeric_limits<std::int32_t>::max();
  if (!fits) return std::nullopt;
  const bool is_float = is_floating(input.dtype()) && input.dtype() != DType::float64;
  return Sorted{input, rows, precedes, is_float ? DType::float32 : DType::float64};
}

}  // namespace

std::optional<SortedRows> sorted_on_cuda(const Tensor& input, const Rows& rows,
                                         const functors::Ordering& precedes) {
  const std::optional<Sorted> sorted = sortable(input, rows, precedes);
  if (!sorted) return std::nullopt;
  const CudaBackend& backend = *input.cuda_backend();
  return rows.size <= kLongestMergedRow ? merged(*sorted, backend)
                                        : sorted_by_digits(*sorted, backend, nullptr);
}

bool is_sorted_on_cuda(const RowSort& sort) {
  const Rows& rows = sort.rows;
  const std::optional<Sorted> call = sortable(sort.input, rows, sort.precedes);
  if (!call) return false;
  if (rows.size <= kLongestRankedRow) return is_ranked(sort);
  if (sort.picked == rows.size && rows.inner == 1) {
    if (rows.size <= functors::SortedTile::kElements) {
      return are_tiles_sorted(*call, {sort.values, sort.places});
    }
    if (rows.size > kLongestMergedRow) {
      return sorted_by_digits(*call, *sort.input.cuda_backend(), &sort).has_value();
    }
  }
  const std::optional<SortedRows> sorted = sorted_on_cuda(sort.input, rows, sort.precedes);
  return sorted && are_rows_done_on_cuda(
                       functors::PickedOrder{rows.size, rows.inner, sort.picked},
                       sorted->elements.dtype, {.count = sort.values.numel(), .are_threads = true},
                       {{sort.values, sort.places}, {sorted->elements, sorted->places}});
}

}  // namespace ohm::ops
