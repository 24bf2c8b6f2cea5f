#include "runtime/ops/pooling/pooling_gradients.h"

#include <utility>

#include "runtime/arithmetic/factories.h"
#include "runtime/arithmetic/laid_out.h"
#include "runtime/autograd/recorder.h"
#include "runtime/ops/conversion/convert.h"
#include "runtime/ops/indexing/indexing.h"
#include "runtime/ops/shape/view.h"
#include "runtime/tensor/context.h"

namespace ohm::ops {

Tensor found_at_maxima(const Tensor& images, const Tensor& indices, int dims) {
  Shape rows;
  for (int dim = 0; dim < indices.dims() - dims; ++dim) rows.push_back(indices.shape()[dim]);
  rows.push_back(-1);
  const Tensor places = view(indices, rows);
  const Tensor pixels = Context::current().rules.pool_indices_read_images_as_they_lie
                            ? reshape(images, rows)
                            : view(contiguous(images, memory_format_of(indices)), rows);
  return view(gather(pixels, -1, places), indices.shape());
}

void record_maxima_gradient(std::string_view node, const Tensor& out, const Tensor& grad,
                            const Tensor& input, const Tensor& indices, int dims) {
  Recorder record(node, {&grad, &input});
  if (!record.is_needed()) return;
  record.save(indices);
  record.attach_differentiable(
      out, [dims, shape = input.shape(), options = options_of(input)](BackwardCall& call) {
        TensorList grads(2);
        const Tensor places = call.saved(0);
        if (call.needs(0)) grads[0] = found_at_maxima(call.grad(), places, dims);
        if (call.needs(1)) grads[1] = zeros(shape, options);
        return grads;
      });
}

void record_average_gradient(std::string_view node, const Tensor& out, const Tensor& grad,
                             const Tensor& input, std::function<Tensor(const Tensor&)> pool) {
  Recorder record(node, {&grad, &input});
  if (!record.is_needed()) return;
  record.attach_differentiable(out, [pool = std::move(pool), shape = input.shape(),
                                     options = options_of(input)](BackwardCall& call) {
    TensorList grads(2);
    if (call.needs(0)) grads[0] = pool(call.grad());
    if (call.needs(1)) grads[1] = zeros(shape, options);
    return grads;
  });
}

}  // namespace ohm::ops
