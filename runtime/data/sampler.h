// In which order the items of a data set are visited. Indices count from 0.
//
// What is drawn depends on a generator alone: the same seed, the same order, on every machine.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/base/philox.h"
#include "runtime/tensor/context.h"

namespace ohm::data {

using Indices = std::vector<std::int64_t>;

/// A generator that a program made: `nullptr` stands for "a new one at every epoch, seeded by the
/// host's generator".
using GeneratorPtr = std::shared_ptr<PhiloxGenerator>;

/// 0 … count-1, every order as likely as any other.
Indices random_permutation(std::int64_t count, PhiloxGenerator& generator);

/// The sizes of the parts of a set of `count` items. `lengths` are either the sizes, which sum up
/// to `count`, or shares, which sum up to 1: what rounding down leaves goes to the first parts, one
/// each. Throws std::invalid_argument for anything else.
Indices part_sizes(std::int64_t count, const std::vector<double>& lengths);

/// One order for every epoch.
class Sampler {
 public:
  Sampler() = default;
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;
  virtual ~Sampler() = default;

  /// The indices of the next epoch.
  virtual Indices draw() = 0;
  /// How many draw() returns.
  virtual std::int64_t size() const = 0;
};

using SamplerPtr = std::shared_ptr<Sampler>;

/// 0 … count-1.
class SequentialSampler final : public Sampler {
 public:
  explicit SequentialSampler(std::int64_t count) : count_(count) {}
  Indices draw() override;
  std::int64_t size() const override { return count_; }

 private:
  std::int64_t count_;
};

struct RandomSamplerOptions {
  bool replaces = false;         ///< an index may come more than once
  std::int64_t num_samples = 0;  ///< 0: as many as there are items
  GeneratorPtr generator;
};

/// A new permutation every epoch; several, one behind the other, for more samples than items.
class RandomSampler final : public Sampler {
 public:
  /// Throws std::invalid_argument for an empty set, or a negative number of samples.
  RandomSampler(std::int64_t count, RandomSamplerOptions options);
  Indices draw() override;
  std::int64_t size() const override;

 private:
  std::int64_t count_;
  RandomSamplerOptions options_;
};

/// These indices, in a new order every epoch.
class SubsetRandomSampler final : public Sampler {
 public:
  SubsetRandomSampler(Indices indices, GeneratorPtr generator)
      : indices_(std::move(indices)), generator_(std::move(generator)) {}
  Indices draw() override;
  std::int64_t size() const override { return static_cast<std::int64_t>(indices_.size()); }

 private:
  Indices indices_;
  GeneratorPtr generator_;
};

/// Index i with a probability proportional to weights[i].
class WeightedRandomSampler final : public Sampler {
 public:
  /// Throws std::invalid_argument for weights that are negative or not finite, and for more samples
  /// than there are positive weights, unless it `replaces`.
  WeightedRandomSampler(std::vector<double> weights, RandomSamplerOptions options);
  Indices draw() override;
  std::int64_t size() const override { return options_.num_samples; }

 private:
  std::vector<double> weights_;
  RandomSamplerOptions options_;
};

struct DistributedSamplerOptions {
  std::int64_t num_replicas = 1;
  std::int64_t rank = 0;
  bool shuffles = true;
  std::uint64_t seed = 0;
  bool drops_last = false;
};

/// What one of several ranks visits: every num_replicas-th index, all ranks equally many. The first
/// indices come a second time to fill up, unless the last ones are dropped.
class DistributedSampler final : public Sampler {
 public:
  /// Throws std::invalid_argument for a rank that does not exist.
  DistributedSampler(std::int64_t count, const DistributedSamplerOptions& options);
  Indices draw() override;
  std::int64_t size() const override;
  /// The order depends on it: without, every epoch is the same.
  void set_epoch(std::int64_t epoch) { epoch_ = epoch; }

 private:
  std::int64_t count_;
  DistributedSamplerOptions options_;
  std::int64_t epoch_ = 0;
};

/// Consecutive indices in groups of `batch_size`; the last is shorter, or dropped.
struct BatchSampler {
  SamplerPtr sampler;
  std::int64_t batch_size = 1;
  bool drops_last = false;

  std::vector<Indices> draw() const;
  std::int64_t size() const;
};

}  // namespace ohm::data
