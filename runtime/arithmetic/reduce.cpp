#include "runtime/arithmetic/reduce.h"

#include <type_traits>
#include <vector>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/reduction_scratch.h"
#include "runtime/base/strided.h"
#include "runtime/base/wrapping.h"
#include "runtime/kernels/launch/split_reduction.h"

namespace ohm {

Tensor reduce_sum(const Tensor& tensor, DimMask folded, bool keep_dims, DType dtype) {
  Tensor out = empty(reduced_shape(tensor.shape(), folded, keep_dims), {dtype, tensor.device()});
  reduce_sum_into(out, tensor, folded, 1.0);
  return out;
}

namespace {

// sums[…] += source[…], row by row: one sum for a folded row, else one for each element.
template <class In, class Sum>
void add_rows(const In* source, const Shape& shape, const std::array<Shape, 2>& strides,
              Sum* sums) {
  const std::int64_t step = shape.empty() ? 1 : strides[0].back();
  const std::int64_t sum_step = shape.empty() ? 0 : strides[1].back();
  for_each_row<2>(shape, strides, [&](const auto& at, std::int64_t count) {
    const In* row = source + at[0];
    Sum* target = sums + at[1];
    if (sum_step == 0) {
      Sum sum{};
      for (std::int64_t i = 0; i < count; ++i) {
        sum = wrapping_sum(sum, convert_element<Sum>(row[i * step]));
      }
      *target = wrapping_sum(*target, sum);
    } else {
      for (std::int64_t i = 0; i < count; ++i) {
        Sum& sum = target[i * sum_step];
        sum = wrapping_sum(sum, convert_element<Sum>(row[i * step]));
      }
    }
  });
}

bool is_summed_on_cuda(const Tensor& out, const Tensor& tensor, DimMask folded, double factor) {
  const CudaReduction fold(tensor, folded, out.numel());
  const DType dtype = tensor.dtype();
  const DType sum_dtype = is_floating(dtype) ? DType::float64 : DType::int64;
  using functors::ReduceSum;
  return reduce_on_cuda(
      tensor, fold, 1,
      [&] {
        return are_rows_done_on_cuda(ReduceSum{factor, fold.whole()}, dtype, fold.whole_rows(),
                                     {{out}, {tensor}});
      },
      [&](const PartialResults& partials) {
        return are_rows_done_on_cuda(ReduceSum{1.0, fold.in_pieces()}, dtype, fold.piece_rows(),
                                     {{partials.array(0, sum_dtype)}, {tensor}});
      },
      [&](const PartialResults& partials) {
        return are_rows_done_on_cuda(ReduceSum{factor, fold.of_partials()}, sum_dtype,
                                     fold.partial_rows(), {{out}, {partials.array(0, sum_dtype)}});
      });
}

// The kernels read half precision into float32 sums themselves; every other change of dtype is a
// copy of the whole input first.
bool reads_directly(DType input, DType out) {
  return input == out || (item_bytes(input) == 2 && out == DType::float32);
}

}  // namespace

void reduce_sum_into(const Tensor& out, const Tensor& given, DimMask folded, double factor) {
  const Tensor tensor =
      reads_directly(given.dtype(), out.dtype()) ? given : cast(given, out.dtype());
  const ReductionScratch scratch(tensor, folded);
  sum_without_scratch(out, tensor, folded, factor);
}

void sum_without_scratch(const Tensor& out, const Tensor& tensor, DimMask folded, double factor) {
  if (!out.has_values() || is_summed_on_cuda(out, tensor, folded, factor)) return;
  visit_dtype(tensor.dtype(), [&]<class In>(TypeTag<In>) {
    using Sum = std::conditional_t<std::is_floating_point_v<ComputeType<In>>, double, std::int64_t>;
    std::vector<Sum> sums(static_cast<std::size_t>(out.numel()));
    const In* source = tensor.data<const In>();
    const std::array<Shape, 2> strides = {tensor.strides(),
                                          reduced_strides(tensor.shape(), folded)};
    if (source != nullptr) add_rows(source, tensor.shape(), strides, sums.data());
    const auto scale = static_cast<Sum>(factor);
    visit_dtype(out.dtype(), [&]<class Out>(TypeTag<Out>) {
      Out* target = out.data<Out>();
      for (std::size_t i = 0; i < sums.size(); ++i) {
        target[i] = convert_element<Out>(wrapping_product(sums[i], scale));
      }
    });
  });
}

}  // namespace ohm
