#include "runtime/parallel/fully_sharded_parameter.h"

#include <algorithm>
#include <utility>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/autograd/variable.h"
#include "runtime/base/ceil_div.h"
#include "runtime/tensor/allocation.h"
#include "runtime/tensor/context.h"

namespace ohm::parallel {
namespace {

Shape with_rows(const Shape& shape, std::int64_t rows) {
  Shape result = shape;
  result[0] = rows;
  return result;
}

// Rows of a tensor whose rows lie one after the other.
Tensor rows_of(const Tensor& tensor, std::int64_t first, std::int64_t count) {
  const Shape shape = with_rows(tensor.shape(), count);
  const std::int64_t row = tensor.strides()[0];
  return make_view(tensor, shape, tensor.strides(), tensor.impl()->offset + first * row);
}

Tensor flat_view(const Tensor& tensor) {
  return make_view(tensor, {tensor.numel()}, {1}, tensor.impl()->offset);
}

}  // namespace

FullyShardedParameter::FullyShardedParameter(const Tensor& parameter,
                                             std::vector<ParameterPlace> places,
                                             const RankGroup& group)
    : places_(std::move(places)), world_size_(group.world_size()), shape_(parameter.shape()) {
  const NoGradGuard no_grad;
  const CategoryGuard category(Category::parameter);
  const std::int64_t rows = shape_[0];
  const std::int64_t each = ceil_div(rows, world_size_);
  const std::int64_t first = std::min(rows, each * group.rank());
  const std::int64_t own = std::min(each, rows - first);
  padded_shape_ = with_rows(shape_, each);
  sharded_shape_ = with_rows(shape_, own);
  const Tensor padded = zeros(padded_shape_, options_of(parameter));
  if (sharded_shape_.numel() > 0)
    copy_into(rows_of(padded, 0, own), rows_of(parameter, first, own));
  flat_ = flat_view(padded);
  shard_ = detached_alias(make_view(padded, sharded_shape_, contiguous_strides(sharded_shape_), 0));
  shard_.impl()->is_view = false;
  shard_.set_requires_grad(parameter.requires_grad());
}

void FullyShardedParameter::decide_dtypes(const MixedPrecisionPolicy& policy) {
  cast_dtype_ = policy.param_dtype;
  if (cast_dtype_ == original_dtype() || !is_floating(original_dtype())) cast_dtype_.reset();
}

// With 2.15 that of the reduction. Gradients that are narrower are cast where they are copied to be
// reduced, or added to what there is.
void FullyShardedParameter::choose_gradient_dtype(const MixedPrecisionPolicy& policy,
                                                  bool is_reduced) const {
  if (!follows_later_rules() || !whole_.requires_grad()) return;
  const DType dtype = accumulated_dtype(policy);
  const bool is_wider = item_bytes(dtype) > item_bytes(computed_dtype());
  AutogradMeta& meta = ensure_autograd_meta(whole_);
  const bool is_cast_later = is_wider && (is_reduced || meta.grad.defined());
  const std::optional<DType> chosen =
      dtype == computed_dtype() || is_cast_later ? std::nullopt : std::optional<DType>(dtype);
  if (std::exchange(meta.grad_dtype, chosen) != chosen) forget_accumulator(whole_);
}

void FullyShardedParameter::refresh(bool repads) {
  const bool is_uneven = !(sharded_shape_ == padded_shape_);
  const bool is_same = shard_.impl()->storage == flat_.impl()->storage;
  if (is_same && !(repads && is_uneven)) return;
  if (is_uneven) {
    const NoGradGuard no_grad;
    const CategoryGuard category(Category::parameter);
    const Tensor padded = zeros(padded_shape_, options_of(shard_));
    if (shard_.numel() > 0)
      copy_into(rows_of(padded, 0, sharded_shape_[0]), detached_alias(shard_));
    flat_ = flat_view(padded);
    TensorImpl& impl = *shard_.impl();
    impl.offset = 0;
    impl.strides = contiguous_strides(sharded_shape_);
    impl.storage = padded.impl()->storage;
  } else {
    flat_ = flat_view(shard_);
  }
}

void FullyShardedParameter::make_room() {
  if (gathered_.defined()) {
    if (gathered_.storage().is_given_back()) allocate_again(gathered_.storage());
    return;
  }
  gathered_ = empty({padded_numel() * world_size_}, {computed_dtype(), shard_.device()});
}

void FullyShardedParameter::show_whole() {
  if (!whole_.defined()) {
    whole_ = make_view(gathered_, shape_, contiguous_strides(shape_), 0);
    whole_.impl()->is_view = false;
  }
  if (whole_.requires_grad() != shard_.requires_grad()) {
    whole_.set_requires_grad(shard_.requires_grad());
  }
  put(whole_);
}

void FullyShardedParameter::show_shard() {
  put(shard_);
  if (gathered_.defined()) gathered_.storage().give_back();
}

void FullyShardedParameter::put(const Tensor& tensor) const {
  for (const ParameterPlace& place : places_) {
    const std::shared_ptr<nn::Module> module = place.module.lock();
    if (!module) continue;
    if (const auto i = module->find_own_parameter(place.name))
      module->set_own_parameter(*i, tensor);
  }
}

}  // namespace ohm::parallel
