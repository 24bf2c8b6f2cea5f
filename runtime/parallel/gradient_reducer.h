// Buckets of gradients, averaged over ranks.
#pragma once

#include <vector>

#include "runtime/parallel/distributed_data_parallel.h"

namespace ohm::parallel {

/// At first one bucket holds all gradients. After the first backward pass, when the order in which
/// gradients come is known, buckets are made anew in that order: one of 1 MiB, then of the cap.
class GradientReducer {
 public:
  GradientReducer(RankGroup& group, std::vector<Tensor> parameters,
                  const DistributedOptions& options);
  ~GradientReducer();
  GradientReducer(const GradientReducer&) = delete;
  GradientReducer& operator=(const GradientReducer&) = delete;

  /// Before a forward pass whose backward will be reduced.
  void prepare();

 private:
  struct Bucket {
    Tensor flat;
    std::vector<std::size_t> parameters;  ///< in the order of their pieces
    std::vector<Tensor> pieces;           ///< views of flat, shaped like the parameters
  };

  void make_buckets(const std::vector<std::vector<std::size_t>>& groups);
  void rebuild_buckets();
  void gradient_is_ready(std::size_t parameter);
  void reduce_all();

  RankGroup& group_;
  std::vector<Tensor> parameters_;
  DistributedOptions options_;
  std::vector<Bucket> buckets_;
  std::vector<Tensor> piece_of_;          ///< by parameter
  std::vector<std::size_t> ready_order_;  ///< of the pass that runs
  bool is_rebuilt_ = false;
};

}  // namespace ohm::parallel
