#include "runtime/ops/embedding/embedding_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>

#include "runtime/arithmetic/factories.h"
#include "runtime/base/ceil_div.h"
#include "runtime/ops/pointwise/binary_kernel.h"
#include "runtime/ops/sorting/sorting_scratch.h"
#include "runtime/tensor/context.h"

namespace ohm::ops {

void require_embedding(const Tensor& input, const Tensor& weight, const OpInfo& op) {
  require_floating(weight, op);
  require_same_device(input, weight, op);
  if (input.dtype() != DType::int64 && input.dtype() != DType::int32) {
    throw std::invalid_argument(fmt::format("[{}] expected indices of dtype int64 or int32, not {}",
                                            op.name, name_of(input.dtype())));
  }
  if (weight.dims() == 2) return;
  throw std::invalid_argument(
      fmt::format("[{}] 'weight' must be 2-D, but got {}", op.name, weight.shape().str()));
}

EmbeddingTable embedding_table(const Tensor& weight, std::optional<std::int64_t> padding_idx,
                               const OpInfo& op) {
  EmbeddingTable table{weight.shape()[0], weight.shape()[1], -1};
  if (!padding_idx) return table;
  table.padding_row = *padding_idx < 0 ? *padding_idx + table.rows : *padding_idx;
  if (table.padding_row >= 0 && table.padding_row < table.rows) return table;
  throw std::invalid_argument(
      fmt::format("[{}] padding_idx {} must be within the {} rows of the table", op.name,
                  *padding_idx, table.rows));
}

SortingScratch::SortingScratch(const Tensor& input, const TensorOptions& grad_options)
    : index_options_(options_of(input)), grad_options_(grad_options), count_(input.numel()) {}

SortingScratch::~SortingScratch() {
  while (!kept_.empty()) kept_.pop_back();
}

void SortingScratch::sort(std::int64_t rows) {
  keep(count_, index_options_);
  keep(count_, index_options_);
  const Tensor range = empty({count_}, index_options_);
  const Device device = index_options_.device;
  take_bytes(Context::current().rules.has_later_embedding_gradient
                 ? bounded_sort_scratch_bytes(count_, index_bytes(), rows, device)
                 : sort_scratch_bytes(count_, index_bytes(), device));
}

void SortingScratch::split_into_segments(const EmbeddingTable& table) {
  constexpr std::int64_t kRowsPerPiece = 10;
  const TensorOptions number{DType::int64, index_options_.device};
  keep(count_, index_options_);
  keep(1, number);
  {
    const Tensor unique = empty({count_}, index_options_);
    take_bytes(selection_scratch_bytes(count_, index_bytes(), index_options_.device));
  }
  const std::int64_t segments = std::min(count_, table.rows);
  keep(segments, index_options_);
  keep(segments, index_options_);
  take_bytes(scan_scratch_bytes(segments, index_options_.dtype, index_options_.device));
  keep(1, number);
  const std::int64_t pieces = count_ / kRowsPerPiece + segments;
  const DType sums = grad_options_.dtype == DType::float64 ? DType::float64 : DType::float32;
  keep(pieces, index_options_);
  if (!adds_pieces_at_once(pieces, segments, table.width)) {
    keep(pieces * table.width, {sums, index_options_.device});
    return;
  }
  keep(pieces, index_options_);
  if (grad_options_.dtype != sums) keep(segments * table.width, {sums, index_options_.device});
}

// Many pieces of segments that are too few for the device: sums of pieces need no memory then.
// The bounds are where recorded requests change, for widths of 1 to 20,000 on two GPUs.
bool SortingScratch::adds_pieces_at_once(std::int64_t pieces, std::int64_t segments,
                                         std::int64_t width) const {
  Context& context = Context::current();
  if (!context.rules.has_later_embedding_gradient) return false;
  const std::int64_t warps = std::max<std::int64_t>(32, ceil_div(width, 32));
  const std::int64_t pairs = std::max<std::int64_t>(16, ceil_div(width, 64));
  return segments * warps <
             std::int64_t{128} * context.slot(index_options_.device).multiprocessors &&
         segments * pairs < 4 * pieces;
}

std::int64_t SortingScratch::index_bytes() const {
  return static_cast<std::int64_t>(item_bytes(index_options_.dtype));
}
void SortingScratch::keep(std::int64_t count, const TensorOptions& options) {
  kept_.push_back(empty({count}, options));
}
void SortingScratch::take_bytes(std::int64_t bytes) {
  const Tensor scratch = empty_bytes(bytes, index_options_.device);
}

}  // namespace ohm::ops
