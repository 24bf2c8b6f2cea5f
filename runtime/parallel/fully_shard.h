// fully_shard: parameters, gradients and optimizer state of a module in parts, one on each rank.
//
//   for each block: fully_shard(block, options);
//   fully_shard(model, options);
//
// What a call finds below its module and no call before has taken is one group: gathered before the
// module runs, let go behind it, gathered again for backward, where its gradients are averaged over
// the ranks and each keeps its part (fully_sharded_group.h). The module that runs first is the
// outermost one; it ends each backward pass.
#pragma once

#include <memory>
#include <vector>

#include "runtime/nn/module.h"
#include "runtime/parallel/fully_sharded_group.h"
#include "runtime/parallel/fully_sharded_options.h"

namespace ohm::parallel {

class FullyShardedState;

/// What all states below one outermost module share.
struct FullyShardedRun {
  std::vector<std::weak_ptr<FullyShardedState>> states;  ///< the outermost first
  std::shared_ptr<FullyShardedTraffic> traffic = std::make_shared<FullyShardedTraffic>();
  const FullyShardedState* running = nullptr;  ///< whose forward pass is the outermost one
  bool ends_with_backward = false;             ///< the pass that is going on
};

/// Of one module.
class FullyShardedState final : public nn::CallEnvelope,
                                public std::enable_shared_from_this<FullyShardedState> {
 public:
  /// `group`: null where there are no parameters.
  FullyShardedState(std::shared_ptr<FullyShardedGroup> group, Device device,
                    const FullyShardOptions& options);

  void before(nn::Module& module, const Places& inputs) override;
  void after(nn::Module& module, const Places& outputs) override;

  FullyShardedGroup* group() const { return group_.get(); }

  /// The module's own parameters, not those of modules below that are sharded apart: whole until
  /// the end of the next pass, and in parts.
  void unshard();
  void reshard();
  /// Of the outermost module, behind a pass that failed: all below it are as before the step, but
  /// for gradients, which are gone. Throws std::invalid_argument for another module.
  void give_up();

 private:
  enum class Role : std::uint8_t { unknown, outermost, inner };

  void begin(nn::Module& module);
  void cast_inputs(const Places& inputs) const;
  void cast_outputs(const Places& outputs) const;
  void watch_inputs(const Places& inputs);
  void watch_outputs(const Places& outputs);
  void before_backward();
  void end_backward_later();
  static void end_backward(FullyShardedRun& run);

  std::shared_ptr<FullyShardedGroup> group_;
  Device device_;
  FullyShardOptions options_;
  Role role_ = Role::unknown;
  ShardingPhase phase_ = ShardingPhase::idle;
  std::shared_ptr<FullyShardedRun> run_ = std::make_shared<FullyShardedRun>();
};

/// The state of a module that fully_shard was called on; null for any other.
std::shared_ptr<FullyShardedState> find_sharded_state(const nn::Module& module);

/// Throws std::invalid_argument outside a rank group, for a module that it was called on before, a
/// list or dictionary of modules, and a parameter without dimensions or with gaps; OutOfMemory: the
/// module is as it was, but for what was moved to the rank's GPU.
void fully_shard(const nn::ModulePtr& module, const FullyShardOptions& options);

}  // namespace ohm::parallel
