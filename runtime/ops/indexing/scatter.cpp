// Tensors and copies of them with elements written to places that an index names.
#include "runtime/ops/indexing/scatter.h"

#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/ops/indexing/index_places.h"
#include "runtime/ops/indexing/indexing.h"
#include "runtime/ops/indexing/nonzero.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/pointwise/binary_kernel.h"
#include "runtime/ops/reduction/extremum.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kScatter{"scatter"};
constexpr OpInfo kIndexAdd{"index_add"};
constexpr OpInfo kScatterInplace{"scatter_"};
constexpr OpInfo kScatterAddInplace{"scatter_add_"};
constexpr OpInfo kIndexAddInplace{"index_add_"};
constexpr OpInfo kOneHot{"one_hot"};

/// What is written to.
enum class Target : std::uint8_t { copy, input };

Tensor target_of(const OpInfo& info, const Tensor& input, int dim, const Tensor& index,
                 Target target) {
  if (target == Target::copy) return copy_with_places(info, input, dim, index);
  if (input.has_values() && index.has_values()) {
    require_places(info, index, {input.dims() == 0 ? 1 : input.shape()[dim]});
  }
  begin_inplace_write(input, info.name);
  return input;
}

Recorder recorder_of(const OpInfo& info, std::string_view node,
                     std::initializer_list<const Tensor*> inputs, Target target) {
  return target == Target::copy ? Recorder(node, inputs)
                                : Recorder::overwriting(info.name, node, inputs);
}

// What is read must not be what is written to.
void require_apart(const OpInfo& info, const Tensor& written, const Tensor& read) {
  if (!read.defined()) return;
  const bool are_the_same = &written.storage() == &read.storage() && written.numel() > 0 &&
                            written.impl()->offset == read.impl()->offset &&
                            written.shape() == read.shape() && written.strides() == read.strides();
  if (are_the_same) {
    throw std::invalid_argument(
        fmt::format("[{}] unsupported operation: the input tensor and the written-to tensor refer "
                    "to a single memory location. Please clone() the tensor before performing the "
                    "operation.",
                    info.name));
  }
  require_no_partial_overlap(written, read, info.name);
}

void require_source(const OpInfo& info, const Tensor& input, const Tensor& index,
                    const Tensor& source) {
  require_same_device(input, source, info);
  if (source.shape() == index.shape() && source.dtype() == input.dtype()) return;
  throw std::invalid_argument(
      fmt::format("[{}] a source of {} does not fit an index of shape {} and an input of {}",
                  info.name, describe(source), index.shape().str(), name_of(input.dtype())));
}

Tensor written(const Tensor& input, int dim, const Tensor& index, const TensorOrNumber& source) {
  Tensor out = copy_with_places(kScatter, input, dim, index);
  write_at(out, dim, index, tensor_of(source), number_of(source));
  return out;
}

// Writes, after what is written to was made.
Tensor plain_scatter(const OpInfo& info, const Tensor& input, int position, const Tensor& index,
                     const TensorOrNumber& source, Target target) {
  const Tensor& tensor = tensor_of(source);
  Tensor out = target_of(info, input, position, index, target);
  write_at(out, position, index, tensor, number_of(source));
  return out;
}

Tensor scattered(const OpInfo& info, const Tensor& input, int position, const Tensor& index,
                 const TensorOrNumber& source, Target target) {
  const Tensor& tensor = tensor_of(source);
  if (tensor.defined()) require_source(info, input, index, tensor);
  if (target == Target::input) require_apart(info, input, tensor);
  Recorder record = recorder_of(info, "ScatterBackward", {&input, &tensor}, target);
  record.save(index);
  const Tensor out = plain_scatter(info, input, position, index, source, target);
  record.attach_differentiable(out, [position](BackwardCall& call) {
    const Tensor places = call.saved(0);
    TensorList grads{Tensor(), Tensor()};
    if (call.needs(0)) {
      grads[0] = call.is_recorded() ? scatter(call.grad(), position, places, Number{0.0})
                                    : written(call.grad(), position, places, 0.0);
    }
    if (call.needs(1)) grads[1] = gather(call.grad(), position, places);
    return grads;
  });
  return out;
}

Tensor index_added(const OpInfo& info, const Tensor& input, std::int64_t dim, const Tensor& index,
                   const Tensor& source, double alpha, Target target) {
  require_index(info, input, index);
  require_same_device(input, source, info);
  const int position = wrap_dim(dim, input.dims(), info.name.data());
  Shape expected = input.shape();
  if (input.dims() > 0) expected[position] = index.numel();
  if (index.dims() > 1 || input.dims() == 0 || !(source.shape() == expected) ||
      source.dtype() != input.dtype()) {
    throw std::invalid_argument(
        fmt::format("[{}] a source of {} and an index of shape {} do not fit an input of {}",
                    info.name, describe(source), index.shape().str(), describe(input)));
  }
  if (target == Target::input) require_apart(info, input, source);
  Recorder record = recorder_of(info, "IndexAddBackward", {&input, &source}, target);
  record.save(record.needs(1) ? index : Tensor());
  record.save(record.needs(1) ? source : Tensor());  // for its shape alone
  const Tensor places = spread_index(index, source.shape(), position);
  const Tensor out = target_of(info, input, position, places, target);
  add_at(out, position, places, source, alpha);
  record.attach_differentiable(out, [position, alpha](BackwardCall& call) {
    TensorList grads{call.needs(0) ? call.grad() : Tensor(), Tensor()};
    if (!call.needs(1)) return grads;
    const Tensor chosen = index_select(call.grad(), position, call.saved(0));
    grads[1] = alpha == 1.0 ? chosen : formula::times(chosen, alpha);
    return grads;
  });
  return out;
}

// One more than the largest index, which PyTorch reads.
std::int64_t found_classes(const Tensor& input) {
  if (input.numel() == 0) {
    throw std::invalid_argument(
        "[one_hot] cannot infer the number of classes from an empty tensor");
  }
  require_known_values(kOneHot, input);
  const NoGradGuard no_graph;
  const std::vector<std::int64_t> largest = to_integers(max(input));
  return largest[0] + 1;
}

}  // namespace

Tensor scatter(const Tensor& input, std::int64_t dim, const Tensor& index,
               const TensorOrNumber& source) {
  const OpFront front(kScatter);
  return scattered(kScatter, input, gathered_dim(kScatter, input, dim, index), index, source,
                   Target::copy);
}

Tensor scatter_(const Tensor& input, std::int64_t dim, const Tensor& index,
                const TensorOrNumber& source) {
  const OpFront front(kScatterInplace);
  return scattered(kScatterInplace, input, gathered_dim(kScatterInplace, input, dim, index), index,
                   source, Target::input);
}

Tensor scatter_add_(const Tensor& input, std::int64_t dim, const Tensor& index,
                    const Tensor& source) {
  const OpFront front(kScatterAddInplace);
  const int position = gathered_dim(kScatterAddInplace, input, dim, index);
  require_source(kScatterAddInplace, input, index, source);
  require_apart(kScatterAddInplace, input, source);
  Recorder record =
      recorder_of(kScatterAddInplace, "ScatterAddBackward", {&input, &source}, Target::input);
  record.save(record.needs(1) ? index : Tensor());
  const Tensor out = target_of(kScatterAddInplace, input, position, index, Target::input);
  add_at(out, position, index, source);
  record.attach_differentiable(out, [position](BackwardCall& call) {
    TensorList grads{call.needs(0) ? call.grad() : Tensor(), Tensor()};
    if (call.needs(1)) grads[1] = gather(call.grad(), position, call.saved(0));
    return grads;
  });
  return out;
}

Tensor index_add(const Tensor& input, std::int64_t dim, const Tensor& index, const Tensor& source,
                 double alpha) {
  const OpFront front(kIndexAdd);
  return index_added(kIndexAdd, input, dim, index, source, alpha, Target::copy);
}

Tensor index_add_(const Tensor& input, std::int64_t dim, const Tensor& index, const Tensor& source,
                  double alpha) {
  const OpFront front(kIndexAddInplace);
  return index_added(kIndexAddInplace, input, dim, index, source, alpha, Target::input);
}

Tensor one_hot(const Tensor& input, std::int64_t given_classes) {
  const OpFront front(kOneHot);
  if (input.dtype() != DType::int64) {
    throw std::invalid_argument(
        fmt::format("[one_hot] expected indices of dtype int64, not {}", name_of(input.dtype())));
  }
  if (given_classes < -1 || given_classes == 0) {
    throw std::invalid_argument("[one_hot] num_classes must be positive");
  }
  const std::int64_t num_classes = given_classes == -1 ? found_classes(input) : given_classes;
  Shape shape = input.shape();
  shape.push_back(num_classes);
  Tensor out = empty(shape, options_of(input));
  Shape places_shape = input.shape();
  places_shape.push_back(1);
  Shape places_strides = input.strides();
  places_strides.push_back(1);
  const Tensor places = make_view(input, places_shape, places_strides, input.impl()->offset);
  if (!out.has_values()) return out;
  require_places(kOneHot, places, {num_classes});
  fill_values(out, 0.0);
  write_at(out, out.dims() - 1, places, Tensor(), 1.0);
  return out;
}

std::vector<OpDef> scatter_ops() {
  constexpr unsigned kBoth = kFunction | kMethod;
  return {
      define(kScatter, kBoth, &scatter, {"input", "dim", "index", "src"}),
      define(kIndexAdd, kBoth, &index_add, {"input", "dim", "index", "source", {"alpha", 1.0}}),
      define(kScatterInplace, kMethod, &scatter_, {"input", "dim", "index", "src"}),
      define(kScatterAddInplace, kMethod, &scatter_add_, {"input", "dim", "index", "src"}),
      define(kIndexAddInplace, kMethod, &index_add_,
             {"input", "dim", "index", "source", {"alpha", 1.0}}),
      define(kOneHot, kCppFunctional, &one_hot, {"input", {"num_classes", std::int64_t{-1}}}),
  };
}

}  // namespace ohm::ops
