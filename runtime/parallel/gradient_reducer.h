// Buckets of gradients, averaged over ranks.
#pragma once

#include <vector>

#include "runtime/nn/module.h"
#include "runtime/parallel/buckets.h"
#include "runtime/parallel/distributed_options.h"
#include "runtime/parallel/rank_group.h"

namespace ohm::parallel {

/// At first one bucket of each dtype holds all gradients. After the first pass whose order of
/// gradients is known, buckets are made anew in that order: one of 1 MiB, then of the cap. Where
/// unused parameters are searched for, buckets are of that size from the beginning and stay.
class GradientReducer {
 public:
  GradientReducer(RankGroup& group, std::vector<Tensor> parameters,
                  const DistributedOptions& options);
  ~GradientReducer();
  GradientReducer(const GradientReducer&) = delete;
  GradientReducer& operator=(const GradientReducer&) = delete;

  /// Before a forward pass: makes the final buckets as soon as that can be done. Throws
  /// std::invalid_argument when the pass before has left gradients that were not reduced.
  void rebuild_buckets_once();

  /// After a forward pass: its backward will be reduced.
  void expect_backward(const nn::Value& outputs);

  /// The gradients of the outputs are there: a pass that only counts reduces when it is over.
  void backward_begins();

  /// Of a static graph, whose first pass only counts.
  bool is_before_first_reduction() const { return reductions_ == 0; }

 private:
  struct Bucket {
    Tensor flat;
    std::vector<std::size_t> parameters;  ///< in the order of their pieces
    std::vector<Tensor> pieces;           ///< views of flat, shaped like the parameters
  };

  std::vector<std::size_t> bucket_limits() const;
  bool is_counting() const { return options_.static_graph && is_before_first_reduction(); }
  bool finds_unused() const { return options_.find_unused_parameters && !options_.static_graph; }

  void make_buckets(const Buckets& assignment);
  Buckets agreed(const Buckets& assignment);
  Tensor broadcast_integers(const std::vector<double>& numbers);
  void gradient_is_ready(std::size_t parameter);
  void mark_ready(std::size_t parameter);
  void reduce_all();
  void finish_bucket(const Bucket& bucket, const std::vector<bool>& is_used);

  RankGroup& group_;
  std::vector<Tensor> parameters_;
  DistributedOptions options_;
  std::vector<Bucket> buckets_;
  std::vector<Tensor> piece_of_;  ///< by parameter
  Tensor used_map_;               ///< a number for each parameter; undefined where none is needed

  // Of the pass that runs.
  bool expects_gradients_ = false;
  bool is_started_ = false;
  std::vector<bool> is_ready_;
  std::vector<bool> is_used_;
  std::size_t ready_count_ = 0;
  std::vector<std::size_t> unused_;
  std::vector<std::size_t> missing_uses_;  ///< of a static graph

  std::vector<std::size_t> uses_;         ///< of a static graph, in its first pass
  std::vector<std::size_t> ready_order_;  ///< until the final buckets are made
  bool is_rebuilt_ = false;
  std::size_t reductions_ = 0;
};

}  // namespace ohm::parallel
