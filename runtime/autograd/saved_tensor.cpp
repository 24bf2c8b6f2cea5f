#include "runtime/autograd/saved_tensor.h"

#include <fmt/core.h>

#include <stdexcept>

#include "runtime/autograd/node.h"

namespace ohm {
namespace {

std::string overwritten_message(const Tensor& tensor, const Node& owner, std::uint32_t expected) {
  std::string where;
  const SiteTable* sites = Context::current().sites;
  if (sites != nullptr && owner.site() != kUnknownSite) {
    const Site& site = sites->at(owner.site());
    where = fmt::format(" (saved by {} at {}:{})", site.op, site.file, site.line);
  }
  return fmt::format(
      "one of the variables needed for gradient computation has been modified by an inplace "
      "operation: [{} {}], needed by {}, is at version {}; expected version {} instead{}",
      info_of(tensor.dtype()).tensor_type, tensor.shape().str(), owner.name(),
      tensor.storage().version(), expected, where);
}

}  // namespace

SavedTensor::SavedTensor(const Tensor& tensor, Kind kind) {
  if (!tensor.defined()) return;
  version_ = tensor.storage().version();
  tensor_ = kind == Kind::output ? detached_alias(tensor) : tensor;
}

Tensor SavedTensor::unpack(const Node& owner) const {
  if (owner.is_released()) {
    throw std::invalid_argument(
        "Trying to backward through the graph a second time (or directly access saved tensors "
        "after they have already been freed). Saved intermediate values of the graph are freed "
        "when you call backward. Pass retain_graph = true to backward the first time.");
  }
  if (tensor_.defined() && tensor_.storage().version() != version_) {
    throw std::invalid_argument(overwritten_message(tensor_, owner, version_));
  }
  return tensor_;
}

void SavedTensor::release() { tensor_ = Tensor(); }

}  // namespace ohm
