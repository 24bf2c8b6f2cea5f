// Copies of a tensor with elements written to places that an index names.
#include "runtime/ops/scatter.h"

#include "runtime/arithmetic/copy.h"
#include "runtime/ops/arithmetic.h"
#include "runtime/ops/binary_kernel.h"
#include "runtime/ops/index_places.h"
#include "runtime/ops/indexing.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kScatter{"scatter"};
constexpr OpInfo kIndexAdd{"index_add"};
constexpr OpInfo kOneHot{"one_hot"};

Tensor written(const Tensor& input, int dim, const Tensor& index, const TensorOrNumber& source) {
  Tensor out = copy_with_places(kScatter, input, dim, index);
  const double* number = std::get_if<double>(&source);
  write_at(out, dim, index, tensor_of(source), number == nullptr ? 0.0 : *number);
  return out;
}

Tensor integers(const std::vector<double>& values, const Shape& shape) {
  return from_values(values, shape, {DType::int64, Device::cpu()});
}
Tensor matrix(std::int64_t rows) { return randn({rows, 4}, {DType::float64, Device::cpu()}); }

}  // namespace

Tensor scatter(const Tensor& input, std::int64_t dim, const Tensor& index,
               const TensorOrNumber& source) {
  const OpFront front(kScatter);
  const int position = gathered_dim(kScatter, input, dim, index);
  const Tensor& tensor = tensor_of(source);
  if (tensor.defined()) {
    require_same_device(input, tensor, kScatter);
    if (!(tensor.shape() == index.shape()) || tensor.dtype() != input.dtype()) {
      throw std::invalid_argument(fmt::format(
          "[scatter] a source of {} does not fit an index of shape {} and an input of {}",
          describe(tensor), index.shape().str(), name_of(input.dtype())));
    }
  }
  Recorder record("ScatterBackward", {&input, &tensor});
  record.save(index);
  Tensor out = written(input, position, index, source);
  record.attach(out, [position](BackwardCall& call) {
    const Tensor places = call.saved(0);
    TensorList grads{Tensor(), Tensor()};
    if (call.needs(0)) grads[0] = written(call.grad(), position, places, 0.0);
    if (call.needs(1)) grads[1] = gather(call.grad(), position, places);
    return grads;
  });
  return out;
}

Tensor index_add(const Tensor& input, std::int64_t dim, const Tensor& index, const Tensor& source,
                 double alpha) {
  const OpFront front(kIndexAdd);
  require_index(kIndexAdd, input, index);
  require_same_device(input, source, kIndexAdd);
  const int position = wrap_dim(dim, input.dims(), "index_add");
  Shape expected = input.shape();
  if (input.dims() > 0) expected[position] = index.numel();
  if (index.dims() > 1 || input.dims() == 0 || !(source.shape() == expected) ||
      source.dtype() != input.dtype()) {
    throw std::invalid_argument(
        fmt::format("[index_add] a source of {} and an index of shape {} do not fit an input of {}",
                    describe(source), index.shape().str(), describe(input)));
  }
  Recorder record("IndexAddBackward", {&input, &source});
  record.save(record.needs(1) ? index : Tensor());
  record.save(record.needs(1) ? source : Tensor());  // for its shape alone
  const Tensor places = spread_index(index, source.shape(), position);
  Tensor out = copy_with_places(kIndexAdd, input, position, places);
  add_at(out, position, places, source, alpha);
  record.attach(out, [position, alpha](BackwardCall& call) {
    TensorList grads{call.needs(0) ? call.grad() : Tensor(), Tensor()};
    if (!call.needs(1)) return grads;
    const Tensor chosen = index_select(call.grad(), position, call.saved(0));
    grads[1] = alpha == 1.0 ? chosen : formula::times(chosen, alpha);
    return grads;
  });
  return out;
}

Tensor one_hot(const Tensor& input, std::int64_t num_classes) {
  const OpFront front(kOneHot);
  if (input.dtype() != DType::int64) {
    throw std::invalid_argument(
        fmt::format("[one_hot] expected indices of dtype int64, not {}", name_of(input.dtype())));
  }
  if (num_classes <= 0) {
    throw std::invalid_argument("[one_hot] num_classes must be given, and positive");
  }
  Shape shape = input.shape();
  shape.push_back(num_classes);
  Tensor out = empty(shape, options_of(input));
  Shape places_shape = input.shape();
  places_shape.push_back(1);
  const Tensor dense = row_major(input);
  const Tensor places =
      make_view(dense, places_shape, contiguous_strides(places_shape), dense.impl()->offset);
  if (!out.has_values()) return out;
  require_places(kOneHot, places, {num_classes}, out);
  fill_values(out, 0.0);
  write_at(out, out.dims() - 1, places, Tensor(), 1.0);
  return out;
}

std::vector<OpDef> scatter_ops() {
  constexpr unsigned kBoth = kFunction | kMethod;
  const auto one = std::int64_t{1};
  return {
      define(kScatter, kBoth, &scatter, {"input", "dim", "index", "src"},
             [one] {
               const Tensor places = integers({0, 3, 2, 1, 2, 0}, {3, 2});
               const Tensor source = randn({3, 2}, {DType::float64, Device::cpu()});
               return std::vector<Sample>{{matrix(3), one, places, source},
                                          {matrix(3), one, places, 0.5}};
             }),
      define(kIndexAdd, kBoth, &index_add, {"input", "dim", "index", "source", {"alpha", 1.0}},
             [] {
               const Tensor places = integers({2, 0, 2}, {3});
               return std::vector<Sample>{{matrix(3), std::int64_t{0}, places, matrix(3), 1.0},
                                          {matrix(3), std::int64_t{0}, places, matrix(3), 0.5}};
             }),
      define(kOneHot, kFunctional, &one_hot, {"input", {"num_classes", std::int64_t{-1}}}),
  };
}

}  // namespace ohm::ops
