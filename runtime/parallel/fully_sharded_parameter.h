// A parameter of which each rank has a part: rows of its first dimension, as many as every other
// rank, the last ones filled up with zeros.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/nn/module.h"
#include "runtime/parallel/fully_sharded_options.h"
#include "runtime/parallel/rank_group.h"

namespace ohm::parallel {

/// Where a module has it.
struct ParameterPlace {
  std::weak_ptr<nn::Module> module;
  std::string name;
};

class FullyShardedParameter {
 public:
  /// Copies the running rank's rows of `parameter`, which stays where it is. Throws OutOfMemory.
  FullyShardedParameter(const Tensor& parameter, std::vector<ParameterPlace> places,
                        const RankGroup& group);
  FullyShardedParameter(const FullyShardedParameter&) = delete;
  FullyShardedParameter& operator=(const FullyShardedParameter&) = delete;

  /// The leaf that the modules have while the parameter is not whole, and optimizers update.
  const Tensor& shard() const { return shard_; }
  /// The leaf that the modules have while it is; undefined before it was for the first time.
  const Tensor& whole() const { return whole_; }

  void decide_dtypes(const MixedPrecisionPolicy& policy);
  /// In which the whole parameter's gradients are accumulated from the pass on that begins.
  void choose_gradient_dtype(const MixedPrecisionPolicy& policy, bool is_reduced) const;
  DType original_dtype() const { return shard_.dtype(); }
  /// In which it is gathered, where that is not what it is.
  const std::optional<DType>& cast_dtype() const { return cast_dtype_; }

  /// Of the whole parameter's gradients while they are accumulated, with later versions: that of
  /// the reduction.
  DType accumulated_dtype(const MixedPrecisionPolicy& policy) const {
    return policy.reduce_dtype.value_or(original_dtype());
  }
  DType computed_dtype() const { return cast_dtype_.value_or(original_dtype()); }

  /// The elements of every rank's part, and how a gradient of this one's is laid out.
  std::int64_t padded_numel() const { return padded_shape_.numel(); }
  const Shape& sharded_shape() const { return sharded_shape_; }
  std::int64_t padded_rows() const { return padded_shape_[0]; }
  /// This rank's part, with its padding, flat.
  const Tensor& flat() const { return flat_; }

  /// Looks at the shard again, which may have been moved or cast. `repads`: one that has padding
  /// gets memory of its own anew.
  void refresh(bool repads);

  /// Makes room for all ranks' parts, or takes the room that there is.
  void make_room();
  /// That room: the parts one after the other.
  const Tensor& gathered() const { return gathered_; }

  /// What passes without a reduction added up in another dtype than the gradients'; undefined:
  /// none.
  Tensor accumulated;

  void show_shard();  ///< and lets go of the room
  void show_whole();
  /// The modules get the shard for the first time.
  void begin() { put(shard_); }

 private:
  void put(const Tensor& tensor) const;

  std::vector<ParameterPlace> places_;
  int world_size_;
  Shape shape_;
  Shape padded_shape_;
  Shape sharded_shape_;
  std::optional<DType> cast_dtype_;
  Tensor flat_;
  Tensor shard_;
  Tensor gathered_;
  Tensor whole_;
};

}  // namespace ohm::parallel
