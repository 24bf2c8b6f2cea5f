#include "runtime/data/sampler.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "runtime/tensor/context.h"

namespace ohm::data {
namespace {

std::uint64_t random_word(PhiloxGenerator& generator) {
  return philox_word(generator.seed, generator.take(1), 0);
}

// In [0, range), for ranges below 2^32.
std::int64_t random_below(std::int64_t range, PhiloxGenerator& generator) {
  const std::uint64_t word = random_word(generator);
  return static_cast<std::int64_t>((word * static_cast<std::uint64_t>(range)) >> 32U);
}

/// The program's generator, or a new one for the time of a draw.
class DrawGenerator {
 public:
  explicit DrawGenerator(const GeneratorPtr& own) : own_(own) {
    if (own_ == nullptr) fresh_.seed = random_word(Context::current().host.generator);
  }
  PhiloxGenerator& operator*() { return own_ == nullptr ? fresh_ : *own_; }

 private:
  const GeneratorPtr& own_;
  PhiloxGenerator fresh_;
};

std::int64_t rounded_up_quotient(std::int64_t count, std::int64_t size) {
  return count / size + (count % size == 0 ? 0 : 1);
}

}  // namespace

Indices random_permutation(std::int64_t count, PhiloxGenerator& generator) {
  Indices indices(static_cast<std::size_t>(count));
  std::iota(indices.begin(), indices.end(), 0);
  for (std::int64_t i = 0; i + 1 < count; ++i) {
    const std::int64_t other = i + random_below(count - i, generator);
    std::swap(indices[static_cast<std::size_t>(i)], indices[static_cast<std::size_t>(other)]);
  }
  return indices;
}

Indices part_sizes(std::int64_t count, const std::vector<double>& lengths) {
  constexpr double kTolerance = 1e-9;
  const double sum = std::accumulate(lengths.begin(), lengths.end(), 0.0);
  const bool are_shares = std::abs(sum - 1) < kTolerance;
  std::vector<double> wanted;
  for (const double length : lengths) {
    wanted.push_back(are_shares ? std::floor(static_cast<double>(count) * length + kTolerance)
                                : length);
    if (length < 0 || wanted.back() != std::floor(wanted.back())) {
      throw std::invalid_argument(
          fmt::format("[random_split] {} is neither a length nor one of shares of 1", length));
    }
  }
  // Before they become integers, which need not hold them.
  if (!are_shares && sum != static_cast<double>(count)) {
    throw std::invalid_argument(fmt::format(
        "[random_split] the lengths sum up to {:.0f}, the data set has {} items", sum, count));
  }
  Indices sizes;
  for (const double size : wanted) sizes.push_back(static_cast<std::int64_t>(size));
  std::int64_t left = count - std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
  for (std::size_t part = 0; left > 0; part = (part + 1) % sizes.size(), --left) ++sizes[part];
  return sizes;
}

Indices SequentialSampler::draw() {
  Indices indices(static_cast<std::size_t>(count_));
  std::iota(indices.begin(), indices.end(), 0);
  return indices;
}

RandomSampler::RandomSampler(std::int64_t count, RandomSamplerOptions options)
    : count_(count), options_(std::move(options)) {
  if (count < 1 || options_.num_samples < 0) {
    throw std::invalid_argument(fmt::format("[RandomSampler] cannot draw {} samples of {} items",
                                            options_.num_samples, count));
  }
}

std::int64_t RandomSampler::size() const {
  return options_.num_samples == 0 ? count_ : options_.num_samples;
}

Indices RandomSampler::draw() {
  DrawGenerator generator(options_.generator);
  const auto wanted = static_cast<std::size_t>(size());
  Indices indices;
  while (indices.size() < wanted) {
    if (options_.replaces) {
      indices.push_back(random_below(count_, *generator));
      continue;
    }
    const Indices more = random_permutation(count_, *generator);
    const std::size_t taken = std::min(more.size(), wanted - indices.size());
    indices.insert(indices.end(), more.begin(), more.begin() + static_cast<std::ptrdiff_t>(taken));
  }
  return indices;
}

Indices SubsetRandomSampler::draw() {
  DrawGenerator generator(generator_);
  Indices indices = random_permutation(size(), *generator);
  for (std::int64_t& index : indices) index = indices_[static_cast<std::size_t>(index)];
  return indices;
}

WeightedRandomSampler::WeightedRandomSampler(std::vector<double> weights,
                                             RandomSamplerOptions options)
    : weights_(std::move(weights)), options_(std::move(options)) {
  std::int64_t positive = 0;
  for (const double weight : weights_) {
    if (!(weight >= 0) || !std::isfinite(weight)) {
      throw std::invalid_argument(
          fmt::format("[WeightedRandomSampler] a weight cannot be {}", weight));
    }
    positive += weight > 0 ? 1 : 0;
  }
  const bool has_enough = options_.replaces ? positive > 0 : positive >= options_.num_samples;
  if (options_.num_samples < 1 || !has_enough) {
    throw std::invalid_argument(
        fmt::format("[WeightedRandomSampler] cannot draw {} samples {} replacement of {} items "
                    "with a weight above 0",
                    options_.num_samples, options_.replaces ? "with" : "without", positive));
  }
}

Indices WeightedRandomSampler::draw() {
  DrawGenerator generator(options_.generator);
  std::vector<double> weights = weights_;
  Indices indices;
  while (static_cast<std::int64_t>(indices.size()) < options_.num_samples) {
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    double at = static_cast<double>(random_word(*generator)) * 0x1p-32 * sum;
    std::size_t chosen = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      if (weights[i] <= 0) continue;
      chosen = i;
      at -= weights[i];
      if (at < 0) break;
    }
    indices.push_back(static_cast<std::int64_t>(chosen));
    if (!options_.replaces) weights[chosen] = 0;
  }
  return indices;
}

DistributedSampler::DistributedSampler(std::int64_t count, const DistributedSamplerOptions& options)
    : count_(count), options_(options) {
  if (count < 1) throw std::invalid_argument("[DistributedSampler] the data set is empty");
  if (options.num_replicas < 1 || options.rank < 0 || options.rank >= options.num_replicas) {
    throw std::invalid_argument(fmt::format("[DistributedSampler] there is no rank {} of {}",
                                            options.rank, options.num_replicas));
  }
}

std::int64_t DistributedSampler::size() const {
  return options_.drops_last ? count_ / options_.num_replicas
                             : rounded_up_quotient(count_, options_.num_replicas);
}

Indices DistributedSampler::draw() {
  PhiloxGenerator generator;
  generator.seed = options_.seed + static_cast<std::uint64_t>(epoch_);
  const Indices all =
      options_.shuffles ? random_permutation(count_, generator) : SequentialSampler(count_).draw();
  Indices own;
  for (std::int64_t i = 0; i < size(); ++i) {
    const std::int64_t place = options_.rank + i * options_.num_replicas;
    own.push_back(all[static_cast<std::size_t>(place % count_)]);
  }
  return own;
}

std::vector<Indices> BatchSampler::draw() const {
  const Indices indices = sampler->draw();
  const auto group = static_cast<std::size_t>(batch_size);
  std::vector<Indices> batches;
  for (std::size_t first = 0; first < indices.size(); first += group) {
    const std::size_t length = std::min(group, indices.size() - first);
    if (length < group && drops_last) break;
    const auto begin = indices.begin() + static_cast<std::ptrdiff_t>(first);
    batches.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(length));
  }
  return batches;
}

std::int64_t BatchSampler::size() const {
  return drops_last ? sampler->size() / batch_size
                    : rounded_up_quotient(sampler->size(), batch_size);
}

}  // namespace ohm::data
