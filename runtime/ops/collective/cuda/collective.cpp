#include "runtime/ops/collective/cuda/collective.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "runtime/cuda/device_groups.h"
#include "runtime/tensor/cuda_backend.h"

namespace ohm::ops {
namespace {

/// ncclDataType_t; nullopt for what it has no sums of.
std::optional<int> nccl_type(DType dtype) {
  switch (dtype) {
    case DType::float16:
      return cuda::kNcclFloat16;
    case DType::bfloat16:
      return cuda::kNcclBFloat16;
    case DType::float32:
      return cuda::kNcclFloat32;
    case DType::float64:
      return cuda::kNcclFloat64;
    case DType::int32:
      return cuda::kNcclInt32;
    case DType::int64:
      return cuda::kNcclInt64;
    default:
      return std::nullopt;
  }
}

/// NCCL between the devices that the tensors are on; nullptr where something does not fit.
const cuda::Nccl* nccl_between(const std::vector<Tensor>& tensors) {
  const Tensor& first = tensors.front();
  const bool fit = std::all_of(tensors.begin(), tensors.end(), [&](const Tensor& tensor) {
    return tensor.cuda_backend() != nullptr && tensor.cuda_backend()->groups != nullptr &&
           tensor.is_contiguous() && tensor.dtype() == first.dtype() &&
           tensor.numel() == first.numel();
  });
  if (!fit || !nccl_type(first.dtype())) return nullptr;
  std::vector<std::shared_ptr<const cuda::CudaDevice>> devices;
  for (const Tensor& tensor : tensors) devices.push_back(tensor.cuda_backend()->device);
  return first.cuda_backend()->groups->nccl(devices);
}

/// The same, for buffers beside them, each of which has room for all of them.
const cuda::Nccl* nccl_between(const std::vector<Tensor>& tensors,
                               const std::vector<Tensor>& buffers) {
  const auto world = static_cast<std::int64_t>(tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const bool fit = buffers[i].cuda_backend() == tensors[i].cuda_backend() &&
                     buffers[i].is_contiguous() && buffers[i].dtype() == tensors[i].dtype() &&
                     buffers[i].numel() == world * tensors[0].numel();
    if (!fit) return nullptr;
  }
  return nccl_between(tensors);
}

cuda::Pieces read(const std::vector<Tensor>& tensors) {
  cuda::Pieces pieces;
  for (const Tensor& tensor : tensors) pieces.push_back(tensor.cuda_address(CudaAccess::read));
  return pieces;
}

cuda::Pieces written(const std::vector<Tensor>& tensors) {
  cuda::Pieces pieces;
  for (const Tensor& tensor : tensors) {
    pieces.push_back(tensor.cuda_address(CudaAccess::write));
    tensor.bump_version();
  }
  return pieces;
}

cuda::CollectiveItems items_of(const Tensor& tensor) {
  return {nccl_type(tensor.dtype()).value(), static_cast<std::size_t>(tensor.numel())};
}

}  // namespace

CudaResult all_reduce_by_nccl(const std::vector<Tensor>& tensors) {
  const cuda::Nccl* const nccl = nccl_between(tensors);
  if (nccl == nullptr) return CudaResult::no;
  const cuda::Pieces pieces = written(tensors);
  nccl->all_reduce_sum(pieces, pieces, items_of(tensors.front()));
  return CudaResult::done;
}

CudaResult broadcast_by_nccl(const std::vector<Tensor>& tensors, std::size_t source) {
  const cuda::Nccl* const nccl = nccl_between(tensors);
  if (nccl == nullptr) return CudaResult::no;
  cuda::Pieces pieces;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const bool is_read = i == source;
    pieces.push_back(tensors[i].cuda_address(is_read ? CudaAccess::read : CudaAccess::write));
    if (!is_read) tensors[i].bump_version();
  }
  nccl->broadcast(pieces, pieces, items_of(tensors.front()), static_cast<int>(source));
  return CudaResult::done;
}

CudaResult reduce_by_nccl(const std::vector<Tensor>& tensors, const Tensor& sum,
                          std::size_t target) {
  const bool fits = sum.cuda_backend() == tensors[target].cuda_backend() && sum.is_contiguous() &&
                    sum.dtype() == tensors[target].dtype() &&
                    sum.numel() == tensors[target].numel();
  const cuda::Nccl* const nccl = fits ? nccl_between(tensors) : nullptr;
  if (nccl == nullptr) return CudaResult::no;
  const cuda::Pieces inputs = read(tensors);
  nccl->reduce_sum(inputs, written({sum}).front(), items_of(sum), static_cast<int>(target));
  return CudaResult::done;
}

CudaResult all_gather_by_nccl(const std::vector<Tensor>& tensors,
                              const std::vector<Tensor>& buffers) {
  const cuda::Nccl* const nccl = nccl_between(tensors, buffers);
  if (nccl == nullptr) return CudaResult::no;
  const cuda::Pieces inputs = read(tensors);
  nccl->all_gather(inputs, written(buffers), items_of(tensors.front()));
  return CudaResult::done;
}

CudaResult reduce_scatter_by_nccl(const std::vector<Tensor>& buffers,
                                  const std::vector<Tensor>& tensors) {
  const cuda::Nccl* const nccl = nccl_between(tensors, buffers);
  if (nccl == nullptr) return CudaResult::no;
  const cuda::Pieces inputs = read(buffers);
  nccl->reduce_scatter_sum(inputs, written(tensors), items_of(tensors.front()));
  return CudaResult::done;
}

}  // namespace ohm::ops
