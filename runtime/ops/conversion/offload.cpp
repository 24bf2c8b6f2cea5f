#include "runtime/ops/conversion/offload.h"

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/ops/conversion/convert.h"

namespace ohm::ops {
namespace {

class OffloadedTensor final : public PackedTensor {
 public:
  OffloadedTensor(Tensor copy, Device home, Transfer transfer)
      : copy_(std::move(copy)), home_(home), transfer_(transfer) {}

  Tensor unpack() override {
    const NoGradGuard no_grad;
    return to(copy_, home_, std::nullopt, transfer_);
  }

 private:
  Tensor copy_;
  Device home_;
  Transfer transfer_;
};

// The copy is row-major: what is not takes a temporary on the GPU.
Tensor pinned_copy(const Tensor& tensor) {
  Tensor copy = empty_pinned(tensor.shape(), contiguous_strides(tensor.shape()), tensor.dtype());
  copy_into(copy, row_major(tensor));
  return copy;
}

}  // namespace

IntrusivePtr<PackedTensor> SaveOnCpu::pack(const Tensor& tensor) {
  const NoGradGuard no_grad;
  const bool pins = memory_ == HostMemory::pinned;
  Tensor copy =
      pins && tensor.device().is_cuda() ? pinned_copy(tensor) : to_device(tensor, Device::cpu());
  const Transfer transfer = pins ? Transfer::non_blocking : Transfer::blocking;
  return IntrusivePtr<PackedTensor>(
      new OffloadedTensor(std::move(copy), tensor.device(), transfer));
}

}  // namespace ohm::ops
