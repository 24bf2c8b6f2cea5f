#include "runtime/ops/offload.h"

#include "runtime/autograd/grad_mode.h"
#include "runtime/ops/convert.h"

namespace ohm::ops {
namespace {

class OffloadedTensor final : public PackedTensor {
 public:
  OffloadedTensor(Tensor copy, Device home) : copy_(std::move(copy)), home_(home) {}

  Tensor unpack() override {
    const NoGradGuard no_grad;
    return to_device(copy_, home_);
  }

 private:
  Tensor copy_;
  Device home_;
};

}  // namespace

IntrusivePtr<PackedTensor> SaveOnCpu::pack(const Tensor& tensor) {
  const NoGradGuard no_grad;
  return IntrusivePtr<PackedTensor>(
      new OffloadedTensor(to_device(tensor, Device::cpu()), tensor.device()));
}

}  // namespace ohm::ops
