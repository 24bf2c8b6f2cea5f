// Collectives of a RankGroup: what each moves between ranks, and what it holds.
#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <stdexcept>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/arithmetic/memory_format.h"
#include "runtime/ops/cuda/collective.h"
#include "runtime/parallel/collective_guard.h"
#include "runtime/parallel/rank_group.h"

namespace ohm::parallel {
namespace {

using Tensors = std::vector<Tensor>;

bool lists_lie_apart() { return Context::current().rules.collectives_hold_tensors; }

// ---- what fits ----------------------------------------------------------------------------------

// On a GPU elements are moved as they lie.
void require_dense(std::string_view collective, const Tensor& tensor) {
  if (tensor.device().is_cpu() || lies_in(tensor, memory_format_of(tensor))) return;
  throw std::invalid_argument(fmt::format("[{}] tensors have to be contiguous: {} has strides {}",
                                          collective, describe(tensor), tensor.strides().str()));
}

void require_dense(std::string_view collective, const Tensors& tensors) {
  for (const Tensor& tensor : tensors) require_dense(collective, tensor);
}

bool are_alike(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && a.dtype() == b.dtype();
}

bool are_of_one_size(const Tensors& tensors) {
  return std::all_of(tensors.begin(), tensors.end(),
                     [&](const Tensor& tensor) { return tensor.shape() == tensors[0].shape(); });
}

// A list of tensors, one for each rank.
void require_one_each(std::string_view collective, std::string_view list, const Tensors& tensors,
                      int count) {
  if (tensors.size() != static_cast<std::size_t>(count)) {
    throw std::invalid_argument(
        fmt::format("[{}] {} has to have {} tensors, one for each rank, not {}", collective, list,
                    count, tensors.size()));
  }
}

void require_dtype(std::string_view collective, const Tensors& tensors, const Tensor& own) {
  for (const Tensor& tensor : tensors) {
    if (tensor.dtype() == own.dtype()) continue;
    throw std::invalid_argument(fmt::format("[{}] {} and {} are of different dtypes", collective,
                                            describe(tensor), describe(own)));
  }
}

// Tensors of a list that has one for each rank are like the one beside it.
void require_each_like(std::string_view collective, const Tensors& list, const Tensor& own) {
  for (std::size_t rank = 0; rank < list.size(); ++rank) {
    if (are_alike(list[rank], own)) continue;
    throw std::invalid_argument(
        fmt::format("[{}] the piece of rank {} is {}, not {}: they must be alike", collective, rank,
                    describe(list[rank]), describe(own)));
  }
}

Tensors item_of_each(const std::vector<Tensors>& brought, std::size_t item) {
  Tensors tensors;
  for (const Tensors& of_rank : brought) tensors.push_back(of_rank.at(item));
  return tensors;
}

// What the ranks bring first has one shape and one dtype.
Tensors alike_of_each(std::string_view collective, const std::vector<Tensors>& brought) {
  const Tensors tensors = item_of_each(brought, 0);
  for (std::size_t rank = 1; rank < tensors.size(); ++rank) {
    if (are_alike(tensors[rank], tensors[0])) continue;
    throw std::invalid_argument(fmt::format("[{}] rank 0 brings {}, rank {} {}: they must be alike",
                                            collective, describe(tensors[0]), rank,
                                            describe(tensors[rank])));
  }
  return tensors;
}

void require_same_bytes(std::string_view collective, const Tensor& to, const Tensor& from) {
  if (to.numel() == from.numel() && to.dtype() == from.dtype()) return;
  throw std::invalid_argument(
      fmt::format("[{}] a piece of {} is to become {}", collective, describe(to), describe(from)));
}

// ---- pieces -------------------------------------------------------------------------------------

Tensor flat(const Tensor& tensor) {
  return make_view(tensor, {tensor.numel()}, {1}, tensor.impl()->offset);
}

void move(std::string_view collective, const Tensor& to, const Tensor& from) {
  require_same_bytes(collective, to, from);
  if (to.is_contiguous() && from.is_contiguous()) return copy_into(flat(to), flat(from));
  copy_into(to, from);
}

// The elements of a contiguous tensor, cut into pieces of these lengths.
Tensors cut(const Tensor& tensor, const std::vector<std::int64_t>& lengths) {
  Tensors pieces;
  std::int64_t start = tensor.impl()->offset;
  for (const std::int64_t length : lengths) {
    pieces.push_back(make_view(tensor, {length}, {1}, start));
    start += length;
  }
  return pieces;
}

// As many equal pieces as there are ranks.
Tensors pieces_of(std::string_view collective, const Tensor& tensor, int count) {
  if (!tensor.is_contiguous() || tensor.numel() % count != 0) {
    throw std::invalid_argument(
        fmt::format("[{}] {} has to be contiguous, and to have a multiple of {} elements",
                    collective, describe(tensor), count));
  }
  return cut(tensor,
             std::vector<std::int64_t>(static_cast<std::size_t>(count), tensor.numel() / count));
}

// Pieces of so many rows of the first dimension.
Tensors split(std::string_view collective, const Tensor& tensor,
              const std::vector<std::int64_t>& rows, int count) {
  if (rows.empty()) return pieces_of(collective, tensor, count);
  const bool are_counts = std::all_of(rows.begin(), rows.end(), [&](std::int64_t number) {
    return number >= 0 && tensor.dims() > 0 && number <= tensor.shape()[0];
  });
  const bool fit = tensor.is_contiguous() && are_counts &&
                   rows.size() == static_cast<std::size_t>(count) &&
                   std::accumulate(rows.begin(), rows.end(), std::int64_t{0}) == tensor.shape()[0];
  if (!fit) {
    throw std::invalid_argument(fmt::format(
        "[{}] the splits have to be {} numbers of rows that make up the first dimension "
        "of {}, which has to be contiguous",
        collective, count, describe(tensor)));
  }
  const std::int64_t row = tensor.shape()[0] == 0 ? 0 : tensor.numel() / tensor.shape()[0];
  std::vector<std::int64_t> lengths;
  for (const std::int64_t number : rows) lengths.push_back(number * row);
  return cut(tensor, lengths);
}

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

Tensors joined(const Tensors& list, std::initializer_list<Tensor> more) {
  Tensors all = list;
  all.insert(all.end(), more);
  return all;
}

// ---- what becomes of what the ranks brought -----------------------------------------------------

// Of each rank: a list, a tensor of its own, and a buffer or none.
void gather_all(const std::vector<Tensors>& brought) {
  const std::size_t world = brought.size();
  const Tensors buffers = item_of_each(brought, world + 1);
  const bool is_done =
      buffers[0].defined() &&
      ops::all_gather_by_nccl(item_of_each(brought, world), buffers) == ops::CudaResult::done;
  for (std::size_t rank = 0; rank < world; ++rank) {
    for (std::size_t i = 0; i < world; ++i) {
      const Tensor& target = brought[rank][i];
      move("all_gather", target, is_done ? piece_of(buffers[rank], i, target) : brought[i][world]);
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

// The tensor of rank r that stands behind its pieces becomes the reduction of all pieces r.
void reduce_pieces(std::string_view collective, const std::vector<Tensors>& brought,
                   Reduction reduction) {
  const std::size_t world = brought.size();
  for (std::size_t rank = 0; rank < world; ++rank) {
    const Tensor& target = brought[rank][world];
    Tensors sources;
    for (std::size_t i = 0; i < world; ++i) {
      require_same_bytes(collective, target, brought[i][rank]);
      const bool lies = target.is_contiguous() && brought[i][rank].is_contiguous();
      sources.push_back(lies ? flat(brought[i][rank]) : brought[i][rank]);
    }
    reduce_into(sources[0].dims() == 1 ? flat(target) : target, sources, reduction);
  }
}

void exchange(std::string_view collective, const std::vector<Tensors>& brought) {
  const std::size_t world = brought.size();
  for (std::size_t to = 0; to < world; ++to) {
    for (std::size_t from = 0; from < world; ++from) {
      move(collective, brought[to][from], brought[from][world + to]);
    }
  }
}

}  // namespace

// ---- one tensor of each rank --------------------------------------------------------------------

WorkPtr RankGroup::all_reduce(const Tensor& tensor, Reduction reduction, Mode mode) {
  constexpr std::string_view kName = "all_reduce";
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
  constexpr std::string_view kName = "broadcast";
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
  constexpr std::string_view kName = "reduce";
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
  constexpr std::string_view kName = "all_gather";
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
  constexpr std::string_view kName = "reduce_scatter";
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
    if (are_reduced_by_nccl(meeting.brought, reduction)) return;
    reduce_pieces(kName, meeting.brought, reduction);
  };
  return run(call, combine, mode);
}

WorkPtr RankGroup::all_to_all(const Tensors& outputs, const Tensors& inputs, Mode mode) {
  constexpr std::string_view kName = "all_to_all";
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
      [](const Meeting& meeting) { exchange(kName, meeting.brought); }, mode);
}

WorkPtr RankGroup::gather(const Tensors& outputs, const Tensor& tensor, int destination,
                          Mode mode) {
  constexpr std::string_view kName = "gather";
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
    for (std::size_t i = 0; i < all.size(); ++i) move(kName, all[target].at(i), all[i].back());
  };
  return run(
      {.name = kName, .brought = joined(outputs, {tensor}), .inputs = {tensor}, .outputs = outputs},
      combine, mode);
}

WorkPtr RankGroup::scatter(const Tensor& output, const Tensors& inputs, int source, Mode mode) {
  constexpr std::string_view kName = "scatter";
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
    for (std::size_t i = 0; i < all.size(); ++i) move(kName, all[i].back(), all[from].at(i));
  };
  Call call{
      .name = kName, .brought = joined(inputs, {output}), .inputs = inputs, .outputs = {output}};
  if (mode == Mode::waits) call.used = Tensors();
  call.held = inputs;
  return run(call, combine, mode);
}

// ---- pieces -------------------------------------------------------------------------------------

WorkPtr RankGroup::all_gather_into(const Tensor& output, const Tensor& input, Mode mode) {
  constexpr std::string_view kName = "all_gather_into_tensor";
  const CollectiveGuard collective(kName);
  require_dense(kName, input);
  Call call{.name = kName,
            .brought = joined(pieces_of(kName, output, world_size()), {input, Tensor()}),
            .inputs = {input},
            .outputs = {output}};
  if (mode == Mode::waits) call.used = Tensors();
  const auto combine = [](const Meeting& meeting) {
    const auto& all = meeting.brought;
    for (const Tensors& of_rank : all) {
      for (std::size_t i = 0; i < all.size(); ++i) move(kName, of_rank[i], all[i][all.size()]);
    }
  };
  return run(call, combine, mode);
}

WorkPtr RankGroup::reduce_scatter_from(const Tensor& output, const Tensor& input,
                                       Reduction reduction, Mode mode) {
  constexpr std::string_view kName = "reduce_scatter_tensor";
  const CollectiveGuard collective(kName);
  require_dense(kName, output);
  require_reducible(kName, reduction, output.dtype());
  Call call{.name = kName,
            .brought = joined(pieces_of(kName, input, world_size()), {output}),
            .inputs = {input},
            .outputs = {output}};
  if (mode == Mode::waits) call.used = Tensors();
  const auto combine = [reduction](const Meeting& meeting) {
    reduce_pieces(kName, meeting.brought, reduction);
  };
  return run(call, combine, mode);
}

WorkPtr RankGroup::all_to_all_single(const Tensor& output, const Tensor& input,
                                     const Splits& splits, Mode mode) {
  constexpr std::string_view kName = "all_to_all_single";
  require_dtype(kName, {output}, input);
  Tensors brought = split(kName, output, splits.output, world_size());
  const Tensors inputs = split(kName, input, splits.input, world_size());
  brought.insert(brought.end(), inputs.begin(), inputs.end());
  return run(
      {.name = kName, .brought = brought, .inputs = {input}, .outputs = {output}},
      [](const Meeting& meeting) { exchange(kName, meeting.brought); }, mode);
}

}  // namespace ohm::parallel
