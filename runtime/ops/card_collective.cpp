#include "runtime/ops/card_collective.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "allocator_shim/device/cuda/card_groups.h"
#include "runtime/tensor/card_backend.h"

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

/// NCCL between the cards that the tensors are on; nullptr where something does not fit.
const cuda::Nccl* nccl_between(const std::vector<Tensor>& tensors) {
  const bool fit = std::all_of(tensors.begin(), tensors.end(), [](const Tensor& tensor) {
    return tensor.card() != nullptr && tensor.card()->groups != nullptr && tensor.is_contiguous();
  });
  if (!fit || !nccl_type(tensors.front().dtype())) return nullptr;
  std::vector<std::shared_ptr<const cuda::Card>> cards;
  for (const Tensor& tensor : tensors) cards.push_back(tensor.card()->card);
  return tensors.front().card()->groups->nccl(cards);
}

cuda::CollectiveItems items_of(const Tensor& tensor) {
  return {nccl_type(tensor.dtype()).value(), static_cast<std::size_t>(tensor.numel())};
}

}  // namespace

OnCard all_reduce_on_cards(const std::vector<Tensor>& tensors) {
  const cuda::Nccl* const nccl = nccl_between(tensors);
  if (nccl == nullptr) return OnCard::no;
  cuda::Pieces pieces;
  for (const Tensor& tensor : tensors) {
    pieces.push_back(tensor.card_address(CardAccess::write));
    tensor.storage().bump_version();
  }
  nccl->all_reduce_sum(pieces, pieces, items_of(tensors.front()));
  return OnCard::done;
}

OnCard broadcast_on_cards(const std::vector<Tensor>& tensors, std::size_t source) {
  const cuda::Nccl* const nccl = nccl_between(tensors);
  if (nccl == nullptr) return OnCard::no;
  cuda::Pieces pieces;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const bool is_read = i == source;
    pieces.push_back(tensors[i].card_address(is_read ? CardAccess::read : CardAccess::write));
    if (!is_read) tensors[i].storage().bump_version();
  }
  nccl->broadcast(pieces, pieces, items_of(tensors.front()), static_cast<int>(source));
  return OnCard::done;
}

}  // namespace ohm::ops
