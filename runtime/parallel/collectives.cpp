// Collectives of a RankGroup that move pieces between ranks as they lie, without bytes of their
// own.
#include <fmt/core.h>

#include <stdexcept>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/sum.h"
#include "runtime/parallel/collective_guard.h"
#include "runtime/parallel/rank_group.h"

namespace ohm::parallel {
namespace {

void use_in_collective(const Tensor& tensor) {
  if (tensor.device().is_cuda()) tensor.storage().record_stream(kCollectiveStream);
}

void use_in_collective(const std::vector<Tensor>& tensors) {
  for (const Tensor& tensor : tensors) use_in_collective(tensor);
}

void require_same_bytes(std::string_view collective, const Tensor& to, const Tensor& from) {
  if (to.numel() == from.numel() && to.dtype() == from.dtype()) return;
  throw std::invalid_argument(
      fmt::format("[{}] a piece of {} is to become {}", collective, describe(to), describe(from)));
}

// Piece `i` of `count` equal ones of a tensor's elements.
std::vector<Tensor> pieces_of(std::string_view collective, const Tensor& tensor, int count) {
  if (!tensor.is_contiguous() || tensor.numel() % count != 0) {
    throw std::invalid_argument(
        fmt::format("[{}] {} has to be contiguous, and to have a multiple of {} elements",
                    collective, describe(tensor), count));
  }
  const std::int64_t length = tensor.numel() / count;
  std::vector<Tensor> pieces;
  for (int i = 0; i < count; ++i) {
    pieces.push_back(make_view(tensor, {length}, {1}, tensor.impl()->offset + i * length));
  }
  return pieces;
}

Tensor flat(const Tensor& tensor) {
  return make_view(tensor, {tensor.numel()}, {1}, tensor.impl()->offset);
}

void move(std::string_view collective, const Tensor& to, const Tensor& from) {
  require_same_bytes(collective, to, from);
  if (to.is_contiguous() && from.is_contiguous()) return copy_into(flat(to), flat(from));
  copy_into(to, from);
}

}  // namespace

void RankGroup::require_rank(std::string_view collective, int rank) const {
  if (rank >= 0 && rank < world_size()) return;
  throw std::invalid_argument(fmt::format("[{}] there is no rank {}", collective, rank));
}

void RankGroup::all_gather_into(const Tensor& output, const Tensor& input, Queue queue) {
  constexpr std::string_view kName = "all_gather_into_tensor";
  const CollectiveGuard collective(kName);
  const auto world = ranks_.size();
  std::vector<Tensor> brought = pieces_of(kName, output, world_size());
  if (queue == Queue::own) {
    use_in_collective(input);
    use_in_collective(output);
  }
  brought.push_back(input);
  join(kName, std::move(brought), [kName, world](const std::vector<Tensors>& all) {
    for (const Tensors& of_rank : all) {
      for (std::size_t i = 0; i < world; ++i) move(kName, of_rank[i], all[i][world]);
    }
  });
}

void RankGroup::reduce_scatter_from(const Tensor& output, const Tensor& input, Queue queue) {
  constexpr std::string_view kName = "reduce_scatter_tensor";
  const CollectiveGuard collective(kName);
  const auto world = ranks_.size();
  std::vector<Tensor> brought = pieces_of(kName, input, world_size());
  if (queue == Queue::own) {
    use_in_collective(input);
    use_in_collective(output);
  }
  brought.push_back(output);
  join(kName, std::move(brought), [kName, world](const std::vector<Tensors>& all) {
    for (std::size_t rank = 0; rank < world; ++rank) {
      const Tensor& sum = all[rank][world];
      move(kName, sum, all[0][rank]);
      for (std::size_t i = 1; i < world; ++i) accumulate_into(flat(sum), all[i][rank]);
    }
  });
}

void RankGroup::all_to_all(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs) {
  constexpr std::string_view kName = "all_to_all";
  if (outputs.size() != ranks_.size() || inputs.size() != ranks_.size()) {
    throw std::invalid_argument("[all_to_all] needs an output and an input for each rank");
  }
  use_in_collective(inputs);
  use_in_collective(outputs);
  std::vector<Tensor> brought = outputs;
  brought.insert(brought.end(), inputs.begin(), inputs.end());
  join(kName, std::move(brought), [kName, world = ranks_.size()](const std::vector<Tensors>& all) {
    for (std::size_t to = 0; to < world; ++to) {
      for (std::size_t from = 0; from < world; ++from) {
        move(kName, all[to][from], all[from][world + to]);
      }
    }
  });
}

void RankGroup::all_to_all_single(const Tensor& output, const Tensor& input) {
  constexpr std::string_view kName = "all_to_all_single";
  all_to_all(pieces_of(kName, output, world_size()), pieces_of(kName, input, world_size()));
}

void RankGroup::gather(const std::vector<Tensor>& outputs, const Tensor& tensor, int destination) {
  constexpr std::string_view kName = "gather";
  require_rank(kName, destination);
  if (outputs.size() != (rank() == destination ? ranks_.size() : 0)) {
    throw std::invalid_argument(
        "[gather] needs an output for each rank on the destination, and none elsewhere");
  }
  use_in_collective(tensor);
  use_in_collective(outputs);
  std::vector<Tensor> brought = {tensor};
  brought.insert(brought.end(), outputs.begin(), outputs.end());
  const auto target = static_cast<std::size_t>(destination);
  join(kName, std::move(brought), [kName, target](const std::vector<Tensors>& all) {
    for (std::size_t i = 0; i < all.size(); ++i) move(kName, all[target].at(1 + i), all[i][0]);
  });
}

void RankGroup::scatter(const Tensor& output, const std::vector<Tensor>& inputs, int source) {
  constexpr std::string_view kName = "scatter";
  require_rank(kName, source);
  if (inputs.size() != (rank() == source ? ranks_.size() : 0)) {
    throw std::invalid_argument(
        "[scatter] needs an input for each rank on the source, and none elsewhere");
  }
  use_in_collective(output);
  use_in_collective(inputs);
  std::vector<Tensor> brought = {output};
  brought.insert(brought.end(), inputs.begin(), inputs.end());
  const auto from = static_cast<std::size_t>(source);
  join(kName, std::move(brought), [kName, from](const std::vector<Tensors>& all) {
    for (std::size_t i = 0; i < all.size(); ++i) move(kName, all[i][0], all[from].at(1 + i));
  });
}

void RankGroup::reduce(const Tensor& tensor, int destination) {
  constexpr std::string_view kName = "reduce";
  require_rank(kName, destination);
  use_in_collective(tensor);
  const auto target = static_cast<std::size_t>(destination);
  join(kName, {tensor}, [kName, target](const std::vector<Tensors>& all) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      require_same_bytes(kName, all[target][0], all[i][0]);
      if (i != target) accumulate_into(all[target][0], all[i][0]);
    }
  });
}

}  // namespace ohm::parallel
