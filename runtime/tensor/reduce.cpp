#include "runtime/tensor/reduce.h"

#include <type_traits>
#include <vector>

#include "runtime/tensor/reduction_scratch.h"

namespace ohm {

Shape reduced_shape(const Shape& shape, DimMask folded, bool keep_dims) {
  Shape result;
  for (int dim = 0; dim < shape.dims(); ++dim) {
    if (!contains(folded, dim)) {
      result.push_back(shape[dim]);
    } else if (keep_dims) {
      result.push_back(1);
    }
  }
  return result;
}

Shape reduced_strides(const Shape& shape, DimMask folded) {
  Shape strides = contiguous_strides(reduced_shape(shape, folded, true));
  for (int dim = 0; dim < shape.dims(); ++dim) {
    if (contains(folded, dim)) strides[dim] = 0;
  }
  return strides;
}

Tensor reduce_sum(const Tensor& tensor, DimMask folded, bool keep_dims, DType dtype) {
  Tensor out = empty(reduced_shape(tensor.shape(), folded, keep_dims), {dtype, tensor.device()});
  reduce_sum_into(out, tensor, folded, 1.0);
  return out;
}

void reduce_sum_into(const Tensor& out, const Tensor& tensor, DimMask folded, double factor) {
  const ReductionScratch scratch(tensor, folded);
  if (!out.has_values()) return;
  visit_dtype(tensor.dtype(), [&]<class In>(TypeTag<In>) {
    using Sum = std::conditional_t<std::is_floating_point_v<ComputeType<In>>, double, std::int64_t>;
    std::vector<Sum> sums(static_cast<std::size_t>(out.numel()));
    const In* source = tensor.data<In>();
    const std::array<Shape, 2> strides = {tensor.strides(),
                                          reduced_strides(tensor.shape(), folded)};
    if (source != nullptr) {
      for_each_offsets<2>(tensor.shape(), strides, [&](const auto& at) {
        sums[static_cast<std::size_t>(at[1])] += convert_element<Sum>(source[at[0]]);
      });
    }
    const auto scale = static_cast<Sum>(factor);
    visit_dtype(out.dtype(), [&]<class Out>(TypeTag<Out>) {
      Out* target = out.data<Out>();
      for (std::size_t i = 0; i < sums.size(); ++i) {
        target[i] = convert_element<Out>(sums[i] * scale);
      }
    });
  });
}

}  // namespace ohm
