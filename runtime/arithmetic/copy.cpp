#include "runtime/arithmetic/copy.h"

#include "runtime/arithmetic/factories.h"
#include "runtime/kernels/functors/generators.h"
#include "runtime/kernels/launch/elementwise.h"
#include "runtime/tensor/allocation.h"
#include "runtime/tensor/cuda_graph.h"

namespace ohm {

namespace {

/// The same bytes in the same order.
bool is_plain_copy(const Tensor& target, const Tensor& source) {
  return target.has_values() && source.has_values() && target.dtype() == source.dtype() &&
         target.shape() == source.shape() && target.is_contiguous() && source.is_contiguous();
}

/// The host waits for a copy from or to memory that is not pinned.
void refuse_unpinned_in_capture(const Tensor& target, const Tensor& source) {
  const Tensor& on_host = target.device().is_cpu() ? target : source;
  if (is_pinned(on_host.storage())) return;
  refuse_in_capture(target.device().is_cpu() ? source.device() : target.device());
}

}  // namespace

void copy_into(const Tensor& target, const Tensor& source) {
  if (target.device().is_cpu() != source.device().is_cpu())
    refuse_unpinned_in_capture(target, source);
  target.bump_version();
  if (is_plain_copy(target, source)) {
    Storage::copy(target.storage(), target.offset_bytes(), source.storage(), source.offset_bytes(),
                  target.nbytes());
    return;
  }
  map_elements(target, source.dtype(), functors::Copy(), source);
}

Tensor copy_of(const Tensor& tensor) {
  Tensor copy = empty_like(tensor);
  copy_into(copy, tensor);
  return copy;
}

Tensor copy_of_storage(const Tensor& tensor) {
  const auto count =
      static_cast<std::int64_t>(tensor.storage().bytes() / item_bytes(tensor.dtype()));
  return copy_of(make_view(tensor, {count}, {1}, 0));
}

Tensor row_major(const Tensor& tensor) {
  if (tensor.is_contiguous()) return tensor;
  Tensor copy = empty(tensor.shape(), options_of(tensor));
  copy_into(copy, tensor);
  return copy;
}

Tensor cast(const Tensor& tensor, DType dtype) {
  if (tensor.dtype() == dtype) return tensor;
  Tensor copy = empty_like(tensor, dtype);
  copy_into(copy, tensor);
  return copy;
}

Tensor transfer(const Tensor& tensor, Device device) {
  if (tensor.device() == device) return tensor;
  Tensor copy = empty(tensor.shape(), {tensor.dtype(), device});
  copy_into(copy, tensor);
  return copy;
}

}  // namespace ohm
