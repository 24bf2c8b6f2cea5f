#include "runtime/ops/joined_samples.h"

#include "runtime/ops/view.h"

namespace ohm::ops {

Tensor join_samples(const Tensor& tensor, int dim) {
  Shape order;
  for (int i = 1; i < tensor.dims(); ++i) order.push_back(i);
  order.insert(dim, 0);
  Shape sizes = tensor.shape();
  const std::int64_t samples = sizes[0];
  sizes.erase(0);
  sizes[dim] *= samples;
  return reshape(dim == 0 ? tensor : permute(tensor, order), sizes);
}

Tensor split_samples(const Tensor& tensor, int dim, std::int64_t samples) {
  Shape sizes = tensor.shape();
  sizes[dim] /= samples;
  sizes.insert(dim, samples);
  const Tensor apart = reshape(tensor, sizes);
  if (dim == 0) return apart;
  Shape order{dim};
  for (int i = 0; i < apart.dims(); ++i) {
    if (i != dim) order.push_back(i);
  }
  return permute(apart, order);
}

}  // namespace ohm::ops
