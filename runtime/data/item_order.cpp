#include "runtime/data/item_order.h"

#include <algorithm>
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

Indices shuffled(std::int64_t items, const GeneratorPtr& generator) {
  if (items < 1) throw std::invalid_argument("[DataLoader] cannot shuffle a data set of no items");
  if (generator != nullptr) return random_permutation(items, *generator);
  PhiloxGenerator fresh;
  fresh.seed = random_word(Context::current().host.generator);
  return random_permutation(items, fresh);
}

Indices in_order(std::int64_t items) {
  Indices indices(static_cast<std::size_t>(items));
  std::iota(indices.begin(), indices.end(), 0);
  return indices;
}

}  // namespace

Indices random_permutation(std::int64_t count, PhiloxGenerator& generator) {
  Indices indices = in_order(count);
  for (std::int64_t i = 0; i + 1 < count; ++i) {
    const std::int64_t other = i + random_below(count - i, generator);
    std::swap(indices[static_cast<std::size_t>(i)], indices[static_cast<std::size_t>(other)]);
  }
  return indices;
}

std::vector<Indices> epoch_batches(std::int64_t items, const EpochOptions& options) {
  const Indices indices = options.shuffles ? shuffled(items, options.generator) : in_order(items);
  const auto group = static_cast<std::size_t>(options.batch_size);
  std::vector<Indices> batches;
  for (std::size_t first = 0; first < indices.size(); first += group) {
    const std::size_t length = std::min(group, indices.size() - first);
    if (length < group && options.drops_last) break;
    const auto begin = indices.begin() + static_cast<std::ptrdiff_t>(first);
    batches.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(length));
  }
  return batches;
}

std::int64_t count_epoch_batches(std::int64_t items, const EpochOptions& options) {
  const std::int64_t whole = items / options.batch_size;
  return whole + (options.drops_last || items % options.batch_size == 0 ? 0 : 1);
}

}  // namespace ohm::data
