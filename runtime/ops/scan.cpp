#include "runtime/ops/scan.h"

#include "runtime/arithmetic/copy.h"
#include "runtime/base/rows.h"
#include "runtime/kernels/functors/gather_scatter.h"
#include "runtime/kernels/launch/row_loops.h"
#include "runtime/ops/index_places.h"
#include "runtime/ops/pointwise_kernel.h"
#include "runtime/ops/rearrange.h"
#include "runtime/ops/sample_cube.h"
#include "runtime/ops/sorting_scratch.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kCumsum{"cumsum", CastPolicy::float32_result};

Tensor scan_sums(const Tensor& input, int dim, DType dtype) {
  Tensor out = empty(input.shape(), {dtype, input.device()});
  const Tensor converted = row_major(cast(input, dtype));
  const Rows rows = rows_along(input.shape(), dim);
  // One row is the library's work, several rows are not.
  Tensor scratch;
  if (input.device().is_cuda() && rows.count() == 1 && rows.size > 0) {
    scratch = empty({scan_scratch_bytes(rows.size, dtype, input.device())},
                    {DType::uint8, input.device()});
  }
  if (!out.has_values()) return out;
  const functors::ScanSum sums{index_along_dim(converted, dim)};
  run_rows(sums, dtype, {rows.count(), rows.size, rows.inner}, {{out}, {converted}});
  return out;
}

}  // namespace

Tensor cumsum(const Tensor& input, std::int64_t dim) {
  const OpFront front(kCumsum);
  const int position = wrap_dim(dim, input.dims(), "cumsum");
  const DType natural = is_floating(input.dtype()) ? input.dtype() : DType::int64;
  Tensor out =
      scan_sums(input, position, front.result_dtype(input, std::nullopt).value_or(natural));
  if (Recorder record("CumsumBackward", {&input}); record.is_needed()) {
    record.attach(out, [position, dtype = input.dtype()](BackwardCall& call) {
      const Tensor grad = cast(call.grad(), dtype);
      if (grad.numel() <= 1 || grad.shape()[position] == 1) return TensorList{grad};
      const Tensor mirrored = flipped(grad, with(0, position));
      const Tensor sums = scan_sums(mirrored, position, mirrored.dtype());
      return TensorList{flipped(sums, with(0, position))};
    });
  }
  return out;
}

std::vector<OpDef> scan_ops() {
  constexpr unsigned kBoth = kFunction | kMethod;
  return {define(kCumsum, kBoth, &cumsum, {"input", "dim"},
                 [] { return cube_and({std::int64_t{1}}); })};
}

}  // namespace ohm::ops
