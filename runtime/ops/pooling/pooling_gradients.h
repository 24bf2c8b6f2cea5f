// The gradients of pooling, with what create_graph records of them.
#pragma once

#include <functional>
#include <string_view>

#include "runtime/tensor/tensor.h"

namespace ohm::ops {

/// What stands in `images` at the places that a max pool over the last `dims` dimensions found: the
/// gradient of its gradient.
Tensor found_at_maxima(const Tensor& images, const Tensor& indices, int dims);

/// Records `node` of `out`, the gradient of a max pool, which was made of `grad`, the input and the
/// places of the maxima.
void record_maxima_gradient(std::string_view node, const Tensor& out, const Tensor& grad,
                            const Tensor& input, const Tensor& indices, int dims);

/// The nodes of an average pool.
struct AverageNodes {
  std::string_view backward;
  std::string_view backward_twice;
};

/// Records `node` of `out`, the gradient of an average pool, which was made of `grad`. Averages are
/// linear: the gradient of their gradient is `pool` of what comes, whatever the input holds.
void record_average_gradient(std::string_view node, const Tensor& out, const Tensor& grad,
                             const Tensor& input, std::function<Tensor(const Tensor&)> pool);

}  // namespace ohm::ops
