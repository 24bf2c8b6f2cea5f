// In which order the items of a data set are visited. Indices count from 0.
//
// What is drawn depends on a generator alone: the same seed, the same order, on every machine.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/base/philox.h"

namespace ohm::data {

using Indices = std::vector<std::int64_t>;

/// A generator that a program made: `nullptr` stands for "a new one at every epoch, seeded by the
/// host's generator".
using GeneratorPtr = std::shared_ptr<PhiloxGenerator>;

/// 0 … count-1, every order as likely as any other.
Indices random_permutation(std::int64_t count, PhiloxGenerator& generator);

/// How one epoch visits a data set: consecutive items in groups of `batch_size`, which is at least
/// 1; the last is shorter, or dropped.
struct EpochOptions {
  std::int64_t batch_size = 1;
  bool shuffles = false;
  bool drops_last = false;
  GeneratorPtr generator;
};

/// The batches of the next epoch. Throws std::invalid_argument for shuffling no items.
std::vector<Indices> epoch_batches(std::int64_t items, const EpochOptions& options);
/// How many there are.
std::int64_t count_epoch_batches(std::int64_t items, const EpochOptions& options);

}  // namespace ohm::data
