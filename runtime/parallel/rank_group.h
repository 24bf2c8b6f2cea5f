// The ranks of a distributed program, in one process: coroutines that take turns at collectives.
//
// One rank runs at a time; it runs until it waits in a collective or ends, then the next one in
// rank order goes on. The same program therefore does the same in the same order on every run.
// Each rank has its own ExecutionState and, by default, its own GPU.
#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/tensor/context.h"
#include "runtime/tensor/tensor.h"

namespace ohm::parallel {

class RankGroup {
 public:
  /// Runs body(0) … body(world_size − 1) to their ends. When one throws, collectives that wait for
  /// it throw on the others, and run() rethrows what the first failing rank threw. Throws
  /// std::invalid_argument for a world size below 1 or inside another group.
  static void run(int world_size, const std::function<void(int rank)>& body);

  /// The group of the running rank; nullptr outside any.
  static RankGroup* current();

  int world_size() const { return static_cast<int>(ranks_.size()); }
  /// Of the running rank.
  int rank() const { return running_; }

  // Collectives: every rank calls the same one, with tensors of equal shape and dtype. They run on
  // a stream of their own: what they use is free for something else once that has caught up. They
  // throw std::runtime_error when a rank failed or ended without joining.

  /// Each rank's tensor becomes the sum of all.
  void all_reduce(const Tensor& tensor);
  /// Each rank's tensor becomes that of rank `source`.
  void broadcast(const Tensor& tensor, int source);
  /// outputs[i] on each rank becomes the tensor of rank i. Takes the outputs' bytes once more while
  /// it runs.
  void all_gather(const std::vector<Tensor>& outputs, const Tensor& tensor);
  /// `output` on rank i becomes the sum of all ranks' inputs[i]. Takes the inputs' bytes once more
  /// while it runs.
  void reduce_scatter(const Tensor& output, const std::vector<Tensor>& inputs);
  // The same, of pieces that need no bytes of their own (collectives.cpp). What is called a piece
  // is one of as many equal parts of a contiguous tensor's elements as there are ranks.

  /// Where a collective of pieces runs: what runs on the current stream is free in its order.
  enum class Queue : std::uint8_t { own, current };

  /// Piece i of `output` on each rank becomes the input of rank i.
  void all_gather_into(const Tensor& output, const Tensor& input, Queue queue = Queue::own);
  /// `output` on rank i becomes the sum of all ranks' pieces i.
  void reduce_scatter_from(const Tensor& output, const Tensor& input, Queue queue = Queue::own);
  /// outputs[i] on rank r becomes inputs[r] of rank i.
  void all_to_all(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs);
  /// The same of pieces.
  void all_to_all_single(const Tensor& output, const Tensor& input);
  /// outputs[i] on rank `destination` becomes the tensor of rank i; the others have no outputs.
  void gather(const std::vector<Tensor>& outputs, const Tensor& tensor, int destination);
  /// `output` on rank i becomes inputs[i] of rank `source`; the others have no inputs.
  void scatter(const Tensor& output, const std::vector<Tensor>& inputs, int source);
  /// The tensor of rank `destination` becomes the sum of all.
  void reduce(const Tensor& tensor, int destination);

  /// Reduces a number on each rank's GPU.
  void barrier();
  /// Entry i: whether it is set on any rank. Without device memory.
  std::vector<bool> any(const std::vector<bool>& flags);

 private:
  using Tensors = std::vector<Tensor>;
  /// What the ranks brought, by rank; runs once all are there.
  using Combine = std::function<void(const std::vector<Tensors>& brought)>;

  enum class Phase : std::uint8_t { ready, waiting, ended };
  struct Rank {
    Phase phase = Phase::ready;
    ExecutionState state;
    Tensors brought;
    std::vector<bool> flags;
    std::exception_ptr error;
  };

  RankGroup(int world_size, Context& context);

  void rank_main(int rank, const std::function<void(int rank)>& body);
  void join(std::string_view collective, Tensors brought, const Combine& combine);
  void wait_for_turn(int rank);
  void pass_turn_from(int rank);
  bool all_are_waiting() const;
  void refuse_if_incomplete(std::string_view collective) const;
  void require_rank(std::string_view collective, int rank) const;

  Context& context_;
  std::vector<Rank> ranks_;
  int running_ = 0;
  int first_failed_ = -1;
  std::string_view collective_;  ///< that the waiting ranks are in
  std::mutex mutex_;
  std::condition_variable turn_changed_;
};

}  // namespace ohm::parallel
