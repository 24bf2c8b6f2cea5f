// Collectives of a RankGroup: what each moves between ranks, and what it holds.
#include <fmt/core.h>

#include <stdexcept>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/ops/collective/cuda/collective.h"
#include "runtime/parallel/collective_guard.h"
#include "runtime/parallel/collective_pieces.h"
#include "runtime/parallel/rank_group.h"

namespace ohm::parallel {
namespace {

using Tensors = std::vector<Tensor>;

bool lists_lie_apart() { return Context::current().rules.transfers_hold_tensors; }

// The buffer in which the tensors of all ranks lie behind one another.
Tensor flat_buffer(const Tensors& pieces) {
  std::int64_t elements = 0;
  for (const Tensor& piece : pieces) elements += piece.numel();
  return empty({elements}, options_of(pieces[0]));
}

Tensor piece_of(const Tensor& buffer, std::size_t i, const Tensor& like) {
  return make_view(buffer, like.shape(), contiguous_strides(like.shape()),
                   buffer.impl()->offset + static_cast<std::int64_t>(i) * like.numel());
}

// ---- what becomes of what the ranks brought -----------------------------------------------------

// Each piece is a broadcast by the rank whose it is.
void gather_apart(const std::vector<Tensors>& brought) {
  const std::size_t world = brought.size();
  for (std::size_t from = 0; from < world; ++from) {
    const Tensors pieces = item_of_each(brought, from);
    const Tensor& own = brought[from][world];
    move_elements("all_gather", pieces[from], own);
    if (ops::broadcast_by_nccl(pieces, from) == ops::CudaResult::done) continue;
    for (std::size_t rank = 0; rank < world; ++rank) {
      if (rank != from) move_elements("all_gather", pieces[rank], own);
    }
  }
}

// Of each rank: a list, a tensor of its own, and a buffer or none.
void gather_all(const std::vector<Tensors>& brought) {
  const std::size_t world = brought.size();
  const Tensors buffers = item_of_each(brought, world + 1);
  const bool is_done =
      buffers[0].defined() &&
      ops::all_gather_by_nccl(item_of_each(brought, world), buffers) == ops::CudaResult::done;
  if (!is_done) return gather_apart(brought);
  for (std::size_t rank = 0; rank < world; ++rank) {
    for (std::size_t i = 0; i < world; ++i) {
      const Tensor& target = brought[rank][i];
      move_elements("all_gather", target, piece_of(buffers[rank], i, target));
    }
  }
}

bool are_reduced_by_nccl(const std::vector<Tensors>& brought, Reduction reduction) {
  const std::size_t world = brought.size();
  const Tensors buffers = item_of_each(brought, world + 1);
  // The copies are made for devices alone.
  if (reduction != Reduction::sum || !buffers[0].defined() ||
      brought[0][world].cuda_backend() == nullptr) {
    return false;
  }
  for (std::size_t rank = 0; rank < world; ++rank) {
    for (std::size_t i = 0; i < world; ++i) {
      copy_into(piece_of(buffers[rank], i, brought[rank][i]), brought[rank][i]);
    }
  }
  return ops::reduce_scatter_by_nccl(buffers, item_of_each(brought, world)) ==
         ops::CudaResult::done;
}

// Each sum is a reduction to the rank that is to have it. False where it was not a sum for NCCL.
bool are_reduced_apart_by_nccl(const std::vector<Tensors>& brought, Reduction reduction) {
  const std::size_t world = brought.size();
  if (reduction != Reduction::sum) return false;
  for (std::size_t rank = 0; rank < world; ++rank) {
    const Tensors pieces = item_of_each(brought, rank);
    if (ops::reduce_by_nccl(pieces, brought[rank][world], rank) != ops::CudaResult::done) {
      return false;
    }
  }
  return true;
}

}  // namespace

// ---- one tensor of each rank --------------------------------------------------------------------

WorkPtr RankGroup::all_reduce(const Tensor& tensor, Reduction reduction, Mode mode) {
  static constexpr std::string_view kName = "all_reduce";
  require_dense(kName, tensor);
  require_reducible(kName, reduction, tensor.dtype());
  const auto combine = [reduction](const Meeting& meeting) {
    const Tensors all = alike_of_each(kName, meeting.brought);
    const bool is_sum = reduction == Reduction::sum;
    if (is_sum && ops::all_reduce_by_nccl(all) == ops::CudaResult::done) return;
    reduce_into(all[0], all, reduction);
    for (std::size_t i = 1; i < all.size(); ++i) copy_into(all[i], all[0]);
  };
  return run({.name = kName, .brought = {tensor}, .inputs = {tensor}, .outputs = {tensor}}, combine,
             mode);
}

WorkPtr RankGroup::broadcast(const Tensor& tensor, int source, Mode mode) {
  static constexpr std::string_view kName = "broadcast";
  require_rank(kName, source);
  require_dense(kName, tensor);
  const auto combine = [from = static_cast<std::size_t>(source)](const Meeting& meeting) {
    const Tensors all = alike_of_each(kName, meeting.brought);
    if (ops::broadcast_by_nccl(all, from) == ops::CudaResult::done) return;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (i != from) copy_into(all[i], all[from]);
    }
  };
  return run({.name = kName, .brought = {tensor}, .inputs = {tensor}, .outputs = {tensor}}, combine,
             mode);
}

WorkPtr RankGroup::reduce(const Tensor& tensor, int destination, Reduction reduction, Mode mode) {
  static constexpr std::string_view kName = "reduce";
  require_rank(kName, destination);
  require_dense(kName, tensor);
  require_reducible(kName, reduction, tensor.dtype());
  const auto target = static_cast<std::size_t>(destination);
  const auto combine = [target, reduction](const Meeting& meeting) {
    const Tensors all = alike_of_each(kName, meeting.brought);
    reduce_into(all[target], all, reduction);
  };
  return run({.name = kName, .brought = {tensor}, .inputs = {tensor}, .outputs = {tensor}}, combine,
             mode);
}

// ---- lists --------------------------------------------------------------------------------------

WorkPtr RankGroup::all_gather(const Tensors& outputs, const Tensor& tensor, Mode mode) {
  static constexpr std::string_view kName = "all_gather";
  require_one_each(kName, "tensor_list", outputs, world_size());
  require_dtype(kName, outputs, tensor);
  require_dense(kName, tensor);
  if (lists_lie_apart()) require_dense(kName, outputs);
  const CollectiveGuard collective(kName);
  const bool are_even = are_of_one_size(outputs);
  if (are_even) require_each_like(kName, outputs, tensor);
  const bool is_flat = are_even && !lists_lie_apart();
  const Tensor buffer = is_flat ? flat_buffer(outputs) : Tensor();
  Call call{.name = kName,
            .brought = joined(outputs, {tensor, buffer}),
            .inputs = {tensor},
            .outputs = outputs};
  if (is_flat) {
    call.used = joined(outputs, {tensor, buffer});
    call.held = {buffer};
  } else if (!are_even) {
    // Each piece is a broadcast into it, of what the rank has where the piece is its own.
    call.used = outputs;
    if (rank() >= 0) (*call.used)[static_cast<std::size_t>(rank())] = tensor;
    call.held = Tensors();
  }
  return run(
      call, [](const Meeting& meeting) { gather_all(meeting.brought); }, mode);
}

WorkPtr RankGroup::reduce_scatter(const Tensor& output, const Tensors& inputs, Reduction reduction,
                                  Mode mode) {
  static constexpr std::string_view kName = "reduce_scatter";
  require_one_each(kName, "input_list", inputs, world_size());
  require_dtype(kName, inputs, output);
  require_reducible(kName, reduction, output.dtype());
  require_dense(kName, output);
  if (lists_lie_apart()) require_dense(kName, inputs);
  const CollectiveGuard collective(kName);
  const bool are_even = are_of_one_size(inputs);
  if (are_even) require_each_like(kName, inputs, output);
  const bool is_flat = are_even && !lists_lie_apart();
  const Tensor buffer = is_flat ? flat_buffer(inputs) : Tensor();
  Call call{.name = kName,
            .brought = joined(inputs, {output, buffer}),
            .inputs = inputs,
            .outputs = {output}};
  if (is_flat) {
    call.used = joined(inputs, {output, buffer});
  } else if (!are_even) {
    call.used = inputs;
    call.held = Tensors();
  }
  const auto combine = [reduction](const Meeting& meeting) {
    if (are_reduced_by_nccl(meeting.brought, reduction) ||
        are_reduced_apart_by_nccl(meeting.brought, reduction)) {
      return;
    }
    reduce_pieces(kName, meeting.brought, reduction);
  };
  return run(call, combine, mode);
}

WorkPtr RankGroup::all_to_all(const Tensors& outputs, const Tensors& inputs, Mode mode) {
  static constexpr std::string_view kName = "all_to_all";
  require_one_each(kName, "output_tensor_list", outputs, world_size());
  require_one_each(kName, "input_tensor_list", inputs, world_size());
  require_dtype(kName, outputs, inputs[0]);
  require_dtype(kName, inputs, inputs[0]);
  require_dense(kName, outputs);
  require_dense(kName, inputs);
  Tensors brought = outputs;
  brought.insert(brought.end(), inputs.begin(), inputs.end());
  return run(
      {.name = kName, .brought = brought, .inputs = inputs, .outputs = outputs, .used = inputs},
      [](const Meeting& meeting) { exchange_pieces(kName, meeting.brought); }, mode);
}

WorkPtr RankGroup::gather(const Tensors& outputs, const Tensor& tensor, int destination,
                          Mode mode) {
  static constexpr std::string_view kName = "gather";
  require_rank(kName, destination);
  if (rank() == destination) {
    require_one_each(kName, "gather_list", outputs, world_size());
    require_each_like(kName, outputs, tensor);
  } else if (!outputs.empty()) {
    throw std::invalid_argument("[gather] gather_list has to be left out where rank is not dst");
  }
  require_dense(kName, tensor);
  require_dense(kName, outputs);
  const auto target = static_cast<std::size_t>(destination);
  const auto combine = [target](const Meeting& meeting) {
    const auto& all = meeting.brought;
    for (std::size_t i = 0; i < all.size(); ++i) {
      move_elements(kName, all[target].at(i), all[i].back());
    }
  };
  return run(
      {.name = kName, .brought = joined(outputs, {tensor}), .inputs = {tensor}, .outputs = outputs},
      combine, mode);
}

WorkPtr RankGroup::scatter(const Tensor& output, const Tensors& inputs, int source, Mode mode) {
  static constexpr std::string_view kName = "scatter";
  require_rank(kName, source);
  if (rank() == source) {
    require_one_each(kName, "scatter_list", inputs, world_size());
    require_each_like(kName, inputs, output);
  } else if (!inputs.empty()) {
    throw std::invalid_argument("[scatter] scatter_list has to be left out where rank is not src");
  }
  require_dense(kName, output);
  require_dense(kName, inputs);
  const auto from = static_cast<std::size_t>(source);
  const auto combine = [from](const Meeting& meeting) {
    const auto& all = meeting.brought;
    for (std::size_t i = 0; i < all.size(); ++i) {
      move_elements(kName, all[i].back(), all[from].at(i));
    }
  };
  Call call{
      .name = kName, .brought = joined(inputs, {output}), .inputs = inputs, .outputs = {output}};
  if (mode == Mode::waits) call.used = Tensors();
  call.held = inputs;
  return run(call, combine, mode);
}

}  // namespace ohm::parallel
