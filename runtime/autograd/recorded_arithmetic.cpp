#include "runtime/autograd/recorded_arithmetic.h"

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/arithmetic/sum.h"
#include "runtime/autograd/recorder.h"

namespace ohm {

namespace {

Tensor with_leading_dims(const Tensor& tensor, int count) {
  Shape shape(count, 1);
  Shape strides(count, tensor.dims() == 0 ? 1 : tensor.shape()[0] * tensor.strides()[0]);
  for (int dim = 0; dim < tensor.dims(); ++dim) {
    shape.push_back(tensor.shape()[dim]);
    strides.push_back(tensor.strides()[dim]);
  }
  return make_view(tensor, shape, strides, tensor.impl()->offset);
}

Tensor recorded_with_leading_dims(const Tensor& tensor, int count);

Tensor recorded_without_leading_dims(const Tensor& tensor, int count) {
  if (count == 0) return tensor;
  Tensor out = without_leading_dims(tensor, count);
  if (Recorder record("ViewBackward", {&tensor}); record.is_needed()) {
    record.attach_differentiable(out, [count](BackwardCall& call) {
      return TensorList{recorded_with_leading_dims(call.grad(), count)};
    });
  }
  return out;
}

Tensor recorded_with_leading_dims(const Tensor& tensor, int count) {
  Tensor out = with_leading_dims(tensor, count);
  if (Recorder record("ViewBackward", {&tensor}); record.is_needed()) {
    record.attach_differentiable(out, [count](BackwardCall& call) {
      return TensorList{recorded_without_leading_dims(call.grad(), count)};
    });
  }
  return out;
}

}  // namespace

Tensor recorded_sum(const Tensor& a, const Tensor& b) {
  Tensor out = sum_of(a, b);
  if (Recorder record("AddBackward", {&a, &b}); record.is_needed()) {
    record.attach_differentiable(out, [](BackwardCall& call) {
      return TensorList{call.needs(0) ? call.grad() : Tensor(),
                        call.needs(1) ? call.grad() : Tensor()};
    });
  }
  return out;
}

Tensor recorded_copy(const Tensor& tensor) {
  return recorded_copy_into(empty(tensor.shape(), options_of(tensor)), tensor);
}

Tensor recorded_copy_into(Tensor copy, const Tensor& tensor) {
  copy_into(copy, tensor);
  if (Recorder record("CloneBackward", {&tensor}); record.is_needed()) {
    record.attach_copy(copy);
  }
  return copy;
}

void save_copy(Recorder& record, const Tensor& input) {
  if (!record.is_needed()) return;
  record.take_number();
  record.save(recorded_copy_into(empty_like(input), input));
}

Tensor recorded_cast(const Tensor& tensor, DType dtype) {
  if (tensor.dtype() == dtype) return tensor;
  Tensor out = cast(tensor, dtype);
  if (Recorder record("ToCopyBackward", {&tensor}); record.is_needed()) {
    record.attach_differentiable(out, [original = tensor.dtype()](BackwardCall& call) {
      return TensorList{recorded_cast(call.grad(), original)};
    });
  }
  return out;
}

Tensor recorded_sum_to(const Tensor& tensor, const Shape& shape) {
  return recorded_sum_to(tensor, shape, tensor.dtype());
}

namespace {

// A sum of all is no view of another one: gradients are added to it in place.
Tensor recorded_sum_of_all(const Tensor& tensor, DType sums) {
  Tensor sum = without_leading_dims(sum_keeping_dims(tensor, {}, sums), tensor.dims());
  sum.impl()->is_view = false;
  if (Recorder record("SumBackward", {&tensor}); record.is_needed()) {
    record.attach_differentiable(sum, [original = tensor.shape()](BackwardCall& call) {
      return TensorList{recorded_expand(call.grad(), original)};
    });
  }
  return sum;
}

}  // namespace

// A sum and a view are two nodes: how many there are decides the order of later ones.
Tensor recorded_sum_to(const Tensor& tensor, const Shape& shape, DType sums) {
  if (tensor.shape() == shape) return tensor;
  if (shape.empty()) return recorded_sum_of_all(tensor, sums);
  const Tensor sum = sum_keeping_dims(tensor, shape, sums);
  if (Recorder record("SumBackward", {&tensor}); record.is_needed()) {
    record.attach_differentiable(sum, [original = tensor.shape()](BackwardCall& call) {
      return TensorList{recorded_expand(call.grad(), original)};
    });
  }
  return recorded_without_leading_dims(sum, tensor.dims() - shape.dims());
}

Tensor recorded_expand(const Tensor& tensor, const Shape& shape) {
  const int missing = shape.dims() - tensor.dims();
  Shape strides(shape.dims(), 0);
  for (int dim = 0; dim < tensor.dims(); ++dim) {
    if (tensor.shape()[dim] == shape[missing + dim]) strides[missing + dim] = tensor.strides()[dim];
  }
  Tensor out = make_view(tensor, shape, strides, tensor.impl()->offset);
  if (Recorder record("ExpandBackward", {&tensor}); record.is_needed()) {
    record.attach_differentiable(out, [original = tensor.shape()](BackwardCall& call) {
      return TensorList{recorded_sum_to(call.grad(), original)};
    });
  }
  return out;
}

}  // namespace ohm
