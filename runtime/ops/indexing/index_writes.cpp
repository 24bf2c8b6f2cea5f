#include "runtime/ops/indexing/index_writes.h"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/recorder.h"
#include "runtime/base/strided.h"
#include "runtime/kernels/launch/host_values.h"
#include "runtime/ops/indexing/index_places.h"
#include "runtime/ops/indexing/indexing.h"
#include "runtime/ops/indexing/selection.h"
#include "runtime/ops/pointwise/binary_kernel.h"
#include "runtime/ops/shape/concat.h"
#include "runtime/ops/shape/view.h"
#include "runtime/ops/sorting/sorting_scratch.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kIndexFill{"index_fill"};
constexpr OpInfo kIndexFillInplace{"index_fill_"};
constexpr OpInfo kIndexCopy{"index_copy"};
constexpr OpInfo kIndexCopyInplace{"index_copy_"};
constexpr OpInfo kMaskedScatter{"masked_scatter"};
constexpr OpInfo kMaskedScatterInplace{"masked_scatter_"};

// Checks an index of one dimension, and its places where they are known.
int indexed_dim(const OpInfo& info, const Tensor& input, std::int64_t dim, const Tensor& index) {
  require_index(info, input, index);
  const int position = wrap_dim(dim, input.dims(), info.name.data());
  if (index.dims() > 1 || input.dims() == 0) {
    throw std::invalid_argument(
        fmt::format("[{}] the index of shape {} must have one dimension, and an input of {} some",
                    info.name, index.shape().str(), input.shape().str()));
  }
  if (input.has_values() && index.has_values()) {
    require_places(info, index, {input.shape()[position]});
  }
  return position;
}

Recorder recorder_of_write(const OpInfo& info, std::string_view node,
                           std::initializer_list<const Tensor*> inputs, bool is_inplace) {
  return is_inplace ? Recorder::overwriting(info.name, node, inputs) : Recorder(node, inputs);
}

// ---- a number -----------------------------------------------------------------------------------

Tensor index_filled(const OpInfo& info, const Tensor& input, std::int64_t dim, const Tensor& index,
                    double value, bool is_inplace) {
  const OpFront front(info);
  const int position = indexed_dim(info, input, dim, index);
  Recorder record = recorder_of_write(info, "IndexFillBackward", {&input}, is_inplace);
  record.save(index);
  const Tensor out = is_inplace ? input : copy_of(input);
  if (is_inplace) begin_inplace_write(input, info.name);
  write_at(out, position, spread_index(index, out.shape(), position), Tensor(), value);
  record.attach_differentiable(out, [position](BackwardCall& call) {
    return TensorList{index_fill(call.grad(), position, call.saved(0), 0.0)};
  });
  return out;
}

// ---- entries of another tensor ------------------------------------------------------------------

void require_entries(const OpInfo& info, const Tensor& input, int dim, const Tensor& index,
                     const Tensor& source) {
  require_same_device(input, source, info);
  Shape expected = input.shape();
  expected[dim] = index.numel();
  if (source.shape() == expected && source.dtype() == input.dtype()) return;
  throw std::invalid_argument(
      fmt::format("[{}] a source of {} and an index of shape {} do not fit an input of {}",
                  info.name, describe(source), index.shape().str(), describe(input)));
}

Tensor index_copied(const OpInfo& info, const Tensor& input, std::int64_t dim, const Tensor& index,
                    const Tensor& source, bool is_inplace) {
  const OpFront front(info);
  const int position = indexed_dim(info, input, dim, index);
  require_entries(info, input, position, index, source);
  if (is_inplace) require_no_partial_overlap(input, source, info.name);
  Recorder record = recorder_of_write(info, "IndexCopyBackward", {&input, &source}, is_inplace);
  record.save(index);
  Tensor out = input;
  if (is_inplace) {
    begin_inplace_write(input, info.name);
  } else {
    out = empty(input.shape(), options_of(input));
    copy_into(out, input);
  }
  write_at(out, position, spread_index(index, source.shape(), position), source, 0.0);
  record.attach_differentiable(out, [position](BackwardCall& call) {
    const Tensor places = call.saved(0);
    TensorList grads{Tensor(), Tensor()};
    if (call.needs(0)) grads[0] = index_fill(call.grad(), position, places, 0.0);
    if (call.needs(1)) grads[1] = index_select(call.grad(), position, places);
    return grads;
  });
  return out;
}

// ---- elements under a mask ----------------------------------------------------------------------

void require_scatter_mask(const OpInfo& info, const Tensor& input, const Tensor& mask,
                          const Tensor& source) {
  require_same_device(input, mask, info);
  require_same_device(input, source, info);
  if (mask.dtype() != DType::boolean) {
    throw std::invalid_argument(fmt::format("[{}] expected mask to be a bool tensor, got {}",
                                            info.name, name_of(mask.dtype())));
  }
  if (source.dtype() == input.dtype()) return;
  throw std::invalid_argument(
      fmt::format("[{}] expected self and source to have same dtypes but got {} and {}", info.name,
                  name_of(input.dtype()), name_of(source.dtype())));
}

// How many elements come before each place: what the kernel takes while it runs.
class MaskedPlaces {
 public:
  explicit MaskedPlaces(const Tensor& mask) {
    if (!mask.device().is_cuda() || mask.numel() == 0) return;
    before_ = empty(mask.shape(), {DType::int64, mask.device()});
    dense_ = row_major(mask);
    const Tensor scratch =
        empty_bytes(scan_scratch_bytes(mask.numel(), DType::int64, mask.device()), mask.device());
  }
  MaskedPlaces(const MaskedPlaces&) = delete;
  MaskedPlaces& operator=(const MaskedPlaces&) = delete;
  ~MaskedPlaces() { dense_ = Tensor(); }

 private:
  Tensor before_;
  Tensor dense_;
};

void write_under_mask(const OpInfo& info, const Tensor& out, const Tensor& mask,
                      const Tensor& source) {
  const MaskedPlaces places(mask);
  const Tensor dense = row_major(source);
  if (!out.has_values() || lacks_values(mask) || lacks_values(source)) return;
  const std::vector<std::int64_t> chosen = to_integers(mask);
  const auto count = static_cast<std::int64_t>(chosen.size()) -
                     std::count(chosen.begin(), chosen.end(), std::int64_t{0});
  if (count > source.numel()) {
    throw std::invalid_argument(fmt::format(
        "[{}] expected number of elements of self and source: {} are chosen, and {} are there",
        info.name, count, source.numel()));
  }
  visit_dtype(out.dtype(), [&]<class T>(TypeTag<T>) {
    T* const elements = out.data<T>();
    const T* next = dense.data<const T>();
    auto is_chosen = chosen.begin();
    for_each_offset(out.shape(), out.strides(), [&](std::int64_t offset) {
      if (*is_chosen++ != 0) elements[offset] = *next++;
    });
  });
}

// What the mask chose of a gradient, and zeros behind it, in the shape of the source.
Tensor gradient_of_source(const Tensor& grad, const Tensor& mask, const Shape& shape) {
  Tensor chosen = masked_select(grad, mask);
  const std::int64_t missing = shape.numel() - chosen.numel();
  if (missing > 0) {
    const Tensor rest = zeros({missing}, options_of(grad));
    chosen = cat({chosen, rest}, 0);
  }
  return view(chosen, shape);
}

Tensor masked_scattered(const OpInfo& info, const Tensor& given, const Tensor& given_mask,
                        const Tensor& source, bool is_inplace) {
  const OpFront front(info);
  require_scatter_mask(info, given, given_mask, source);
  const Shape shape = broadcast_shapes(given.shape(), given_mask.shape(), info.name.data());
  if (is_inplace && !(shape == given.shape())) {
    throw std::invalid_argument(fmt::format("[{}] a mask of shape {} does not broadcast to {}",
                                            info.name, given_mask.shape().str(),
                                            given.shape().str()));
  }
  const Tensor mask = given_mask.shape() == shape ? given_mask : broadcast_view(given_mask, shape);
  const Tensor input = given.shape() == shape ? given : expand(given, shape);
  if (is_inplace) require_no_partial_overlap(input, source, info.name);
  Recorder record = recorder_of_write(info, "MaskedScatterBackward", {&input, &source}, is_inplace);
  record.save(mask);
  Tensor out = input;
  if (is_inplace) {
    begin_inplace_write(input, info.name);
  } else {
    out = empty(shape, options_of(input));
    copy_into(out, input);
  }
  write_under_mask(info, out, mask, source);
  record.attach_differentiable(out, [sizes = source.shape()](BackwardCall& call) {
    const Tensor chosen = call.saved(0);
    TensorList grads{Tensor(), Tensor()};
    if (call.needs(0)) grads[0] = masked_fill(call.grad(), chosen, 0.0);
    if (call.needs(1)) grads[1] = gradient_of_source(call.grad(), chosen, sizes);
    return grads;
  });
  return out;
}

}  // namespace

Tensor index_fill(const Tensor& input, std::int64_t dim, const Tensor& index, double value) {
  return index_filled(kIndexFill, input, dim, index, value, false);
}
Tensor index_fill_(const Tensor& input, std::int64_t dim, const Tensor& index, double value) {
  return index_filled(kIndexFillInplace, input, dim, index, value, true);
}

Tensor index_copy(const Tensor& input, std::int64_t dim, const Tensor& index,
                  const Tensor& source) {
  return index_copied(kIndexCopy, input, dim, index, source, false);
}
Tensor index_copy_(const Tensor& input, std::int64_t dim, const Tensor& index,
                   const Tensor& source) {
  return index_copied(kIndexCopyInplace, input, dim, index, source, true);
}

Tensor masked_scatter(const Tensor& input, const Tensor& mask, const Tensor& source) {
  return masked_scattered(kMaskedScatter, input, mask, source, false);
}
Tensor masked_scatter_(const Tensor& input, const Tensor& mask, const Tensor& source) {
  return masked_scattered(kMaskedScatterInplace, input, mask, source, true);
}

std::vector<OpDef> index_write_ops() {
  constexpr unsigned kBoth = kFunction | kMethod;
  return {
      define(kIndexFill, kBoth, &index_fill, {"input", "dim", "index", "value"}),
      define(kIndexCopy, kBoth, &index_copy, {"input", "dim", "index", "source"}),
      define(kMaskedScatter, kBoth, &masked_scatter, {"input", "mask", "source"}),
      define(kIndexFillInplace, kMethod, &index_fill_, {"input", "dim", "index", "value"}),
      define(kIndexCopyInplace, kMethod, &index_copy_, {"input", "dim", "index", "source"}),
      define(kMaskedScatterInplace, kMethod, &masked_scatter_, {"input", "mask", "source"}),
  };
}

}  // namespace ohm::ops
