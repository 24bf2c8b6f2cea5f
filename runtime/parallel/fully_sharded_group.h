// The parameters of a module that are gathered, let go and reduced together.
#pragma once

#include <memory>
#include <vector>

#include "runtime/parallel/fully_sharded_collectives.h"
#include "runtime/parallel/fully_sharded_options.h"
#include "runtime/parallel/rank_group.h"

namespace ohm::parallel {

class FullyShardedGroup;

/// What the groups below one outermost module share.
struct FullyShardedTraffic {
  // None before the first forward pass: then the current stream does.
  bool has_streams = false;
  StreamId gather_stream = kDefaultStream;
  StreamId reduce_stream = kDefaultStream;
  /// The buffer that was gathered last in a forward pass: the next group's copies may begin before
  /// it was copied from.
  Tensor gathered;
  Tensor reduced;  ///< that a reduction may be reading still
  /// In order of the forward passes since the last backward.
  std::vector<std::weak_ptr<FullyShardedGroup>> passes;
};

enum class ShardingPhase : std::uint8_t { idle, forward, before_backward, after_backward };

class FullyShardedGroup : public std::enable_shared_from_this<FullyShardedGroup> {
 public:
  FullyShardedGroup(FullyShardedParameters parameters, const RankGroup& ranks,
                    const MixedPrecisionPolicy& policy, bool reshards_after_forward);

  /// Before the first forward pass: what is shared, and dtypes. Throws std::invalid_argument where
  /// those of the parameters differ.
  void begin(std::shared_ptr<FullyShardedTraffic> traffic);
  void keep_whole_after_forward() { reshards_after_forward_ = false; }

  /// The same where a program asks for whole parameters before that.
  void begin() { begin(traffic_); }
  /// Begins to gather; nothing where that is going on, or the parameters are whole.
  void unshard();
  void wait_for_unshard();
  void reshard();

  void before_forward();
  void after_forward();
  void before_backward(bool prefetches);
  void after_backward();
  /// Behind a whole backward pass.
  void finish_backward();

  /// Behind a pass that failed: parameters are in parts, and have no gradients.
  void give_up();

  bool is_whole() const { return is_whole_; }
  ShardingPhase phase() const { return phase_; }
  void set_phase(ShardingPhase phase) { phase_ = phase; }

  bool reduces_gradients = true;
  bool reshards_after_backward = true;

 private:
  void prefetch();
  void add_to_accumulated();
  void accumulate_apart();
  void widen_gradients();
  std::vector<WholeGradient> take_gradients();
  DType reduce_dtype(const WholeGradient& first) const;
  void show_whole();
  void show_shards();
  bool is_alone() const;
  /// Throws std::invalid_argument where the running rank is not one that the parameters were cut
  /// for: its group has ended.
  RankGroup& ranks() const;

  FullyShardedParameters parameters_;
  int world_size_;
  int rank_;
  MixedPrecisionPolicy policy_;
  std::shared_ptr<FullyShardedTraffic> traffic_ = std::make_shared<FullyShardedTraffic>();
  ShardingPhase phase_ = ShardingPhase::idle;
  bool reshards_after_forward_;
  bool is_refreshed_ = false;
  bool is_whole_ = false;
  bool is_gathering_ = false;
  Tensor gathering_;                 ///< what is gathered; undefined for a rank alone
  std::vector<std::size_t> passes_;  ///< its own, as places in the traffic's
};

}  // namespace ohm::parallel
