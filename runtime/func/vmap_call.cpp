#include "runtime/func/vmap_call.h"

#include <stdexcept>

#include "runtime/base/shape.h"
#include "runtime/tensor/batched.h"
#include "runtime/tensor/context.h"

namespace ohm::func {
namespace {

// The same view of the storage, with the first dimension moved to `dim`.
Tensor with_first_dim_at(const Tensor& tensor, int dim) {
  Shape sizes = tensor.shape();
  Shape strides = tensor.strides();
  const std::int64_t size = sizes[0];
  const std::int64_t stride = strides[0];
  sizes.erase(0);
  strides.erase(0);
  sizes.insert(dim, size);
  strides.insert(dim, stride);
  return make_view(tensor, sizes, strides, tensor.impl()->offset);
}

Tensor repeated(const Tensor& tensor, std::int64_t count) {
  Shape sizes = tensor.shape();
  Shape strides = tensor.strides();
  sizes.insert(0, count);
  strides.insert(0, 0);
  return make_view(tensor, sizes, strides, tensor.impl()->offset);
}

}  // namespace

Tensor VmapCall::sample(const Tensor& samples, int dim) const {
  if (samples.requires_grad() && Context::current().state.grad_enabled) {
    throw std::invalid_argument(
        "[vmap] an input that requires a gradient: the graph would have to lead through vmap, "
        "which "
        "is not supported. Differentiate inside, vmap(grad(f)), give x:detach(), or call it under "
        "no_grad");
  }
  return with_batch_dim(samples, dim, level_);
}

bool VmapCall::is_one_of_many(const Tensor& result) const { return is_batched(result, level_); }

Tensor VmapCall::all(const Tensor& result, std::int64_t dim) const {
  const Tensor whole =
      is_one_of_many(result) ? without_batch_dim(result, level_) : repeated(result, count_);
  const int place = wrap_dim(dim, whole.dims(), "vmap");
  return place == 0 ? whole : with_first_dim_at(whole, place);
}

}  // namespace ohm::func
