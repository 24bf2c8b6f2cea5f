#include "runtime/parallel/rank_group.h"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>
#include <thread>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/arithmetic/sum.h"
#include "runtime/ops/cuda/collective.h"
#include "runtime/parallel/collective_guard.h"
#include "runtime/tensor/context.h"

namespace ohm::parallel {
namespace {

thread_local RankGroup* current_group = nullptr;

constexpr int kNobody = -1;

void use_on_collective_stream(const Tensor& tensor) {
  if (tensor.device().is_cuda()) tensor.storage().record_stream(kCollectiveStream);
}

void use_on_collective_stream(const std::vector<Tensor>& tensors) {
  for (const Tensor& tensor : tensors) use_on_collective_stream(tensor);
}

// The buffer in which the pieces of all ranks lie behind one another.
Tensor flat_buffer(const std::vector<Tensor>& pieces) {
  std::int64_t elements = 0;
  for (const Tensor& piece : pieces) elements += piece.numel();
  const Tensor buffer = empty({elements}, options_of(pieces[0]));
  use_on_collective_stream(buffer);
  return buffer;
}

// What the ranks bring to a collective has one shape and one dtype.
void require_alike(std::string_view collective, const std::vector<std::vector<Tensor>>& brought) {
  const Tensor& first = brought[0][0];
  for (std::size_t rank = 1; rank < brought.size(); ++rank) {
    const Tensor& other = brought[rank][0];
    if (other.shape() == first.shape() && other.dtype() == first.dtype()) continue;
    throw std::invalid_argument(fmt::format("[{}] rank 0 brings {}, rank {} {}: they must be alike",
                                            collective, describe(first), rank, describe(other)));
  }
}

// A collective of lists moves pieces of one shape and one dtype.
void require_each_like(std::string_view collective, const std::vector<Tensor>& list,
                       const Tensor& own) {
  for (std::size_t rank = 0; rank < list.size(); ++rank) {
    const Tensor& piece = list[rank];
    if (piece.shape() == own.shape() && piece.dtype() == own.dtype()) continue;
    throw std::invalid_argument(
        fmt::format("[{}] the piece of rank {} is {}, not {}: they must be alike", collective, rank,
                    describe(piece), describe(own)));
  }
}

std::vector<Tensor> item_of_each(const std::vector<std::vector<Tensor>>& brought,
                                 std::size_t item) {
  std::vector<Tensor> tensors;
  for (const std::vector<Tensor>& of_rank : brought) tensors.push_back(of_rank.at(item));
  return tensors;
}

std::vector<Tensor> first_of_each(const std::vector<std::vector<Tensor>>& brought) {
  return item_of_each(brought, 0);
}

// The part of a flat buffer that piece i of equal ones has.
Tensor piece_of(const Tensor& buffer, std::size_t i, const Tensor& like) {
  return make_view(buffer, like.shape(), contiguous_strides(like.shape()),
                   buffer.impl()->offset + static_cast<std::int64_t>(i) * like.numel());
}

// What the ranks bring to a collective of lists: tensors, one for each rank, then one of their own,
// and the buffer in which the list's lie behind one another.
struct ListOfRank {
  std::vector<Tensor> list;
  Tensor own;
  Tensor buffer;

  explicit ListOfRank(const std::vector<Tensor>& brought)
      : list(brought.begin(), brought.end() - 2), own(brought.end()[-2]), buffer(brought.back()) {}
  static std::vector<Tensor> brought(const std::vector<Tensor>& list, const Tensor& own,
                                     const Tensor& buffer) {
    std::vector<Tensor> all = list;
    all.push_back(own);
    all.push_back(buffer);
    return all;
  }
};

void gather_all(const std::vector<std::vector<Tensor>>& brought) {
  const std::size_t world = brought.size();
  const bool is_done =
      ops::all_gather_by_nccl(item_of_each(brought, world), item_of_each(brought, world + 1)) ==
      ops::CudaResult::done;
  for (const std::vector<Tensor>& of_rank : brought) {
    const ListOfRank target(of_rank);
    for (std::size_t i = 0; i < world; ++i) {
      copy_into(target.list[i],
                is_done ? piece_of(target.buffer, i, target.list[i]) : brought[i][world]);
    }
  }
}

bool are_reduced_by_nccl(const std::vector<std::vector<Tensor>>& brought) {
  const std::size_t world = brought.size();
  // The copies are made for devices alone.
  if (brought[0][world].cuda_backend() == nullptr) return false;
  for (const std::vector<Tensor>& of_rank : brought) {
    const ListOfRank source(of_rank);
    for (std::size_t i = 0; i < world; ++i) {
      copy_into(piece_of(source.buffer, i, source.list[i]), source.list[i]);
    }
  }
  return ops::reduce_scatter_by_nccl(item_of_each(brought, world + 1),
                                     item_of_each(brought, world)) == ops::CudaResult::done;
}

void reduce_and_scatter(const std::vector<std::vector<Tensor>>& brought) {
  if (are_reduced_by_nccl(brought)) return;
  const std::size_t world = brought.size();
  for (std::size_t rank = 0; rank < world; ++rank) {
    const Tensor& sum = brought[rank][world];
    copy_into(sum, brought[0][rank]);
    for (std::size_t i = 1; i < world; ++i) accumulate_into(sum, brought[i][rank]);
  }
}

}  // namespace

RankGroup* RankGroup::current() { return current_group; }

RankGroup::RankGroup(int world_size, Context& context)
    : context_(context), ranks_(static_cast<std::size_t>(world_size)) {
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    ExecutionState& state = ranks_[i].state;
    state = context.state;
    // A process of its own has computed nothing yet, and is in no pass and under no checkpoint.
    state.convolution_plans.forget_all();
    state.autograd = {};
    state.after_backward.clear();
    state.backward_pass = 0;
    state.running_module = nullptr;
    if (!context.gpus.empty()) {
      state.current_gpu = Device::cuda(static_cast<int>(i % context.gpus.size()));
    }
  }
}

void RankGroup::run(int world_size, const std::function<void(int rank)>& body) {
  if (world_size < 1) {
    throw std::invalid_argument(
        fmt::format("[spawn] the world size must be at least 1, not {}", world_size));
  }
  if (current() != nullptr) throw std::invalid_argument("[spawn] a rank cannot spawn ranks");
  Context& context = Context::current();
  RankGroup group(world_size, context);
  ExecutionState callers_state = context.state;
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(world_size));
  for (int rank = 0; rank < world_size; ++rank) {
    threads.emplace_back([&group, &body, rank] { group.rank_main(rank, body); });
  }
  for (std::thread& thread : threads) thread.join();
  context.state = std::move(callers_state);
  if (group.first_failed_ >= 0) {
    std::rethrow_exception(group.ranks_[static_cast<std::size_t>(group.first_failed_)].error);
  }
}

void RankGroup::rank_main(int rank, const std::function<void(int rank)>& body) {
  const ContextGuard guard(context_);
  current_group = this;
  Rank& self = ranks_[static_cast<std::size_t>(rank)];
  wait_for_turn(rank);
  try {
    body(rank);
  } catch (...) {
    self.error = std::current_exception();
    if (first_failed_ < 0) first_failed_ = rank;
  }
  self.phase = Phase::ended;
  pass_turn_from(rank);
}

void RankGroup::wait_for_turn(int rank) {
  std::unique_lock<std::mutex> lock(mutex_);
  turn_changed_.wait(lock, [&] { return running_ == rank; });
  context_.state = std::move(ranks_[static_cast<std::size_t>(rank)].state);
}

// The next rank in order that can go on. Ranks that wait for one that has ended go on too: into
// the error that tells them so.
void RankGroup::pass_turn_from(int rank) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ranks_[static_cast<std::size_t>(rank)].state = std::move(context_.state);
  running_ = kNobody;
  for (const Phase wanted : {Phase::ready, Phase::waiting}) {
    for (int step = 1; step <= world_size() && running_ == kNobody; ++step) {
      const int candidate = (rank + step) % world_size();
      if (ranks_[static_cast<std::size_t>(candidate)].phase == wanted) running_ = candidate;
    }
  }
  turn_changed_.notify_all();
}

bool RankGroup::all_are_waiting() const {
  return std::all_of(ranks_.begin(), ranks_.end(),
                     [](const Rank& rank) { return rank.phase == Phase::waiting; });
}

void RankGroup::refuse_if_incomplete(std::string_view collective) const {
  if (first_failed_ >= 0) {
    throw std::runtime_error(fmt::format("[{}] rank {} failed", collective, first_failed_));
  }
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    if (ranks_[i].phase == Phase::ended) {
      throw std::runtime_error(fmt::format("[{}] rank {} ended without joining it", collective, i));
    }
  }
}

void RankGroup::join(std::string_view collective, Tensors brought, const Combine& combine) {
  const int rank = running_;
  Rank& self = ranks_[static_cast<std::size_t>(rank)];
  refuse_if_incomplete(collective);
  const bool is_first = std::none_of(ranks_.begin(), ranks_.end(), [](const Rank& other) {
    return other.phase == Phase::waiting;
  });
  if (is_first) collective_ = collective;
  if (collective_ != collective) {
    throw std::runtime_error(
        fmt::format("[{}] the other ranks are in {}: ranks must call the same "
                    "collectives in the same order",
                    collective, collective_));
  }
  self.brought = std::move(brought);
  self.phase = Phase::waiting;
  if (all_are_waiting()) {
    std::vector<Tensors> all;
    for (Rank& other : ranks_) all.push_back(std::move(other.brought));
    combine(all);
    for (Rank& other : ranks_) other.phase = Phase::ready;
    if (world_size() == 1) return;
  }
  pass_turn_from(rank);
  wait_for_turn(rank);
  if (self.phase == Phase::waiting) {
    self.phase = Phase::ready;
    self.brought.clear();
    refuse_if_incomplete(collective);
  }
}

void RankGroup::all_reduce(const Tensor& tensor) {
  use_on_collective_stream(tensor);
  join("all_reduce", {tensor}, [](const std::vector<Tensors>& brought) {
    require_alike("all_reduce", brought);
    if (ops::all_reduce_by_nccl(first_of_each(brought)) == ops::CudaResult::done) return;
    const Tensor& sum = brought[0][0];
    for (std::size_t i = 1; i < brought.size(); ++i) accumulate_into(sum, brought[i][0]);
    for (std::size_t i = 1; i < brought.size(); ++i) copy_into(brought[i][0], sum);
  });
}

void RankGroup::broadcast(const Tensor& tensor, int source) {
  if (source < 0 || source >= world_size()) {
    throw std::invalid_argument(fmt::format("[broadcast] there is no rank {}", source));
  }
  use_on_collective_stream(tensor);
  const auto from = static_cast<std::size_t>(source);
  join("broadcast", {tensor}, [from](const std::vector<Tensors>& brought) {
    require_alike("broadcast", brought);
    if (ops::broadcast_by_nccl(first_of_each(brought), from) == ops::CudaResult::done) return;
    for (std::size_t i = 0; i < brought.size(); ++i) {
      if (i != from) copy_into(brought[i][0], brought[from][0]);
    }
  });
}

void RankGroup::all_gather(const std::vector<Tensor>& outputs, const Tensor& tensor) {
  if (outputs.size() != ranks_.size()) {
    throw std::invalid_argument("[all_gather] needs one output tensor for each rank");
  }
  require_each_like("all_gather", outputs, tensor);
  const CollectiveGuard collective("all_gather");
  use_on_collective_stream(tensor);
  use_on_collective_stream(outputs);
  const Tensor buffer = flat_buffer(outputs);
  join("all_gather", ListOfRank::brought(outputs, tensor, buffer), gather_all);
}

void RankGroup::reduce_scatter(const Tensor& output, const std::vector<Tensor>& inputs) {
  if (inputs.size() != ranks_.size()) {
    throw std::invalid_argument("[reduce_scatter] needs one input tensor for each rank");
  }
  require_each_like("reduce_scatter", inputs, output);
  const CollectiveGuard collective("reduce_scatter");
  use_on_collective_stream(inputs);
  use_on_collective_stream(output);
  const Tensor buffer = flat_buffer(inputs);
  join("reduce_scatter", ListOfRank::brought(inputs, output, buffer), reduce_and_scatter);
}

void RankGroup::barrier() {
  Tensor number;
  if (!context_.gpus.empty()) {
    number = zeros({1}, {DType::float32, context_.state.current_gpu});
    use_on_collective_stream(number);
  }
  join("barrier", {}, [](const std::vector<Tensors>&) {});
}

std::vector<bool> RankGroup::any(const std::vector<bool>& flags) {
  ranks_[static_cast<std::size_t>(running_)].flags = flags;
  join("any", {}, [this](const std::vector<Tensors>&) {
    std::vector<bool> merged = ranks_[0].flags;
    for (const Rank& rank : ranks_) {
      for (std::size_t i = 0; i < merged.size(); ++i) merged[i] = merged[i] || rank.flags[i];
    }
    for (Rank& rank : ranks_) rank.flags = merged;
  });
  return std::move(ranks_[static_cast<std::size_t>(running_)].flags);
}

}  // namespace ohm::parallel
