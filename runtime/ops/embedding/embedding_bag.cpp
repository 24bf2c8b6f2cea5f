#include "runtime/ops/embedding/embedding_bag.h"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/kernels/launch/host_values.h"
#include "runtime/ops/embedding/embedding_table.h"
#include "runtime/ops/indexing/index_places.h"
#include "runtime/ops/pointwise/binary_kernel.h"
#include "runtime/ops/shape/view.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kEmbeddingBag{"embedding_bag"};

enum class BagMode { sum, mean, max };

struct Bags {
  std::int64_t count;
  BagMode mode;
  std::int64_t size;                 ///< of each, where offsets say nothing else
  std::vector<std::int64_t> begins;  ///< as offsets say, and the end of the last

  std::int64_t begin_of(std::int64_t bag) const {
    return begins.empty() ? bag * size : begins[static_cast<std::size_t>(bag)];
  }
};

[[noreturn]] void refuse_bags(const std::string& problem) {
  throw std::invalid_argument("[embedding_bag] " + problem);
}

BagMode mode_of(const std::string& mode) {
  if (mode == "sum") return BagMode::sum;
  if (mode == "mean") return BagMode::mean;
  if (mode == "max") return BagMode::max;
  refuse_bags(fmt::format("mode must be sum, mean or max, not {}", mode));
}

void check_offsets(const Tensor& input, const BagOptions& options) {
  const std::optional<Tensor>& offsets = options.offsets;
  if (input.dims() == 2 && offsets) refuse_bags("bags of indices [bags, count] take no offsets");
  if (input.dims() == 2) return;
  if (input.dims() != 1) {
    refuse_bags(
        fmt::format("expected bags of indices [bags, count], or [count] with offsets, got "
                    "{}",
                    input.shape().str()));
  }
  if (!offsets || offsets->dims() != 1) refuse_bags("indices [count] take offsets [bags]");
  if (offsets->dtype() != input.dtype() || offsets->device() != input.device()) {
    refuse_bags(
        fmt::format("offsets must be of the indices' dtype and on their device, got {} for "
                    "{}",
                    describe(*offsets), describe(input)));
  }
  if (options.include_last_offset && offsets->numel() == 0) {
    refuse_bags("offsets with the last one included must have an element");
  }
}

void check_sample_weights(const Tensor& input, const Tensor& weight, BagMode mode,
                          const BagOptions& options) {
  if (!options.per_sample_weights) return;
  const Tensor& factors = *options.per_sample_weights;
  if (mode != BagMode::sum) refuse_bags("per_sample_weights are for mode sum alone");
  if (factors.shape() != input.shape()) {
    refuse_bags(fmt::format("per_sample_weights must be of the input's shape {}, not {}",
                            input.shape().str(), factors.shape().str()));
  }
  if (factors.dtype() == weight.dtype() && factors.device() == weight.device()) return;
  refuse_bags(
      fmt::format("per_sample_weights must be of the weight's dtype and on its device, got {} for "
                  "{}",
                  describe(factors), describe(weight)));
}

std::vector<std::int64_t> begins_of(const Tensor& input, const BagOptions& options) {
  const Tensor& offsets = *options.offsets;
  if (!offsets.has_values()) return {};
  std::vector<std::int64_t> begins = to_integers(offsets);
  const bool is_in_order = std::is_sorted(begins.begin(), begins.end());
  if (begins.empty() || begins[0] != 0 || !is_in_order || begins.back() > input.numel()) {
    refuse_bags(fmt::format("offsets begin with 0 and grow to at most {}", input.numel()));
  }
  if (!options.include_last_offset) begins.push_back(input.numel());
  return begins;
}

Bags bags_of(const Tensor& input, BagMode mode, const BagOptions& options) {
  if (!options.offsets) return {input.shape()[0], mode, input.shape()[1], {}};
  const std::int64_t count = options.offsets->numel() - (options.include_last_offset ? 1 : 0);
  return {count, mode, 0, begins_of(input, options)};
}

// Calls visit(place among the indices, row of the table, bag, its share of the bag) for each index
// that is not the padding.
template <class F>
void for_each_in_bags(const EmbeddingTable& table, const Bags& bags,
                      const HostInput<std::int64_t>& indices, F&& visit) {
  for (std::int64_t bag = 0; bag < bags.count; ++bag) {
    const std::int64_t* const first = indices.data() + bags.begin_of(bag);
    const std::int64_t* const end = indices.data() + bags.begin_of(bag + 1);
    const std::int64_t rows = end - first - std::count(first, end, table.padding_row);
    const bool is_shared = bags.mode == BagMode::mean && rows > 0;
    const double share = is_shared ? 1.0 / static_cast<double>(rows) : 1.0;
    for (const std::int64_t* index = first; index != end; ++index) {
      if (*index != table.padding_row) visit(index - indices.data(), *index, bag, share);
    }
  }
}

template <class T>
void add_row(const T* row, T* sum, std::int64_t width, T factor) {
  for (std::int64_t column = 0; column < width; ++column) sum[column] += row[column] * factor;
}

// What an index counts: its own factor where there are some, else its share of the bag.
template <class T>
T factor_of(const HostInput<T>& factors, std::int64_t place, double share) {
  return factors.data() != nullptr ? factors.data()[place] : static_cast<T>(share);
}

void add_up_bags(const EmbeddingTable& table, const Bags& bags, const Tensor& input,
                 const Tensor& weight, const Tensor& factors, const Tensor& out) {
  const HostInput<std::int64_t> indices(input);
  visit_computed(weight.dtype(), [&]<class T>(TypeTag<T>) {
    const HostInput<T> rows(weight);
    const HostInput<T> own(factors);
    HostOutput<T> sums(out);
    sums.fill_zero();
    for_each_in_bags(table, bags, indices,
                     [&](std::int64_t place, std::int64_t row, std::int64_t bag, double share) {
                       add_row(rows.data() + row * table.width, sums.data() + bag * table.width,
                               table.width, factor_of(own, place, share));
                     });
    sums.commit();
  });
}

// The rows of the maxima, -1 where a bag is empty; of equal ones the first.
void find_largest(const EmbeddingTable& table, const Bags& bags, const Tensor& input,
                  const Tensor& weight, const Tensor& largest_rows, const Tensor& out) {
  const HostInput<std::int64_t> indices(input);
  std::vector<double> rows_of_largest(static_cast<std::size_t>(out.numel()), -1.0);
  visit_computed(weight.dtype(), [&]<class T>(TypeTag<T>) {
    const HostInput<T> rows(weight);
    HostOutput<T> largest(out);
    largest.fill_zero();
    for_each_in_bags(table, bags, indices,
                     [&](std::int64_t, std::int64_t row, std::int64_t bag, double) {
                       const T* const candidates = rows.data() + row * table.width;
                       for (std::int64_t column = 0; column < table.width; ++column) {
                         const std::int64_t place = bag * table.width + column;
                         double& chosen = rows_of_largest[static_cast<std::size_t>(place)];
                         T& value = largest.data()[place];
                         if (chosen >= 0 && !(candidates[column] > value)) continue;
                         value = candidates[column];
                         chosen = static_cast<double>(row);
                       }
                     });
    largest.commit();
  });
  copy_into(largest_rows, from_values(rows_of_largest, out.shape(), {DType::int64, Device::cpu()}));
}

void reduce_bags(const EmbeddingTable& table, const Bags& bags, const Tensor& input,
                 const Tensor& weight, const Tensor& factors, const Tensor& largest_rows,
                 const Tensor& out) {
  if (!out.has_values()) return;
  require_places(kEmbeddingBag, input, {table.rows});
  if (bags.mode == BagMode::max) {
    find_largest(table, bags, input, weight, largest_rows, out);
  } else {
    add_up_bags(table, bags, input, weight, factors, out);
  }
}

// ---- backward -----------------------------------------------------------------------------------

// Positions of what a node keeps.
struct SavedOfBags {
  enum : std::size_t { kInput, kBegins, kFactors, kWeight, kBagOfIndex, kSizes, kLargestRows };
};

void share_out_bags(const EmbeddingTable& table, const Bags& bags, const Tensor& input,
                    const Tensor& grad, const Tensor& factors, const Tensor& out) {
  if (!out.has_values()) return;
  const HostInput<std::int64_t> indices(input);
  visit_computed(grad.dtype(), [&]<class T>(TypeTag<T>) {
    const HostInput<T> rows(grad);
    const HostInput<T> own(factors);
    HostOutput<T> sums(out);
    sums.fill_zero();
    for_each_in_bags(table, bags, indices,
                     [&](std::int64_t place, std::int64_t row, std::int64_t bag, double share) {
                       add_row(rows.data() + bag * table.width, sums.data() + row * table.width,
                               table.width, factor_of(own, place, share));
                     });
    sums.commit();
  });
}

Tensor gradient_of_largest(const EmbeddingTable& table, const Tensor& grad,
                           const Tensor& largest_rows) {
  Tensor out = empty({table.rows, table.width}, options_of(grad));
  if (!out.has_values()) return out;
  const HostInput<std::int64_t> chosen(largest_rows);
  visit_computed(grad.dtype(), [&]<class T>(TypeTag<T>) {
    const HostInput<T> parts(grad);
    HostOutput<T> sums(out);
    sums.fill_zero();
    for (std::int64_t i = 0; i < grad.numel(); ++i) {
      const std::int64_t row = chosen.data()[i];
      if (row >= 0) sums.data()[row * table.width + i % table.width] += parts.data()[i];
    }
    sums.commit();
  });
  return out;
}

Tensor bag_gradient(const EmbeddingTable& table, const Bags& bags, const Tensor& grad,
                    const BackwardCall& call) {
  if (bags.mode == BagMode::max) {
    const Tensor parts = row_major(grad);
    return gradient_of_largest(table, parts, call.saved(SavedOfBags::kLargestRows));
  }
  const Tensor& input = call.saved(SavedOfBags::kInput);
  const Tensor indices = row_major(input);
  const Tensor rows = row_major(grad);
  const Shape shape{table.rows, table.width};
  if (input.device().is_cpu()) {
    Tensor out = empty(shape, options_of(rows));
    share_out_bags(table, bags, indices, rows, call.saved(SavedOfBags::kFactors), out);
    return out;
  }
  SortingScratch scratch(input, options_of(rows));
  scratch.sort(table.rows);
  Tensor out = empty(shape, options_of(rows));
  scratch.split_into_segments(table);
  share_out_bags(table, bags, indices, rows, call.saved(SavedOfBags::kFactors), out);
  return out;
}

// Of each index: its row of the table times its bag's gradient.
Tensor sample_gradient(const EmbeddingTable& table, const Bags& bags, const Tensor& grad,
                       const BackwardCall& call) {
  const Tensor& input = call.saved(SavedOfBags::kInput);
  Tensor out = empty({input.numel()}, options_of(grad));
  if (!out.has_values()) return out;
  const HostInput<std::int64_t> indices(input);
  visit_computed(grad.dtype(), [&]<class T>(TypeTag<T>) {
    const HostInput<T> rows(call.saved(SavedOfBags::kWeight));
    const HostInput<T> of_bags(grad);
    HostOutput<T> sums(out);
    sums.fill_zero();
    for_each_in_bags(table, bags, indices,
                     [&](std::int64_t place, std::int64_t row, std::int64_t bag, double) {
                       const T* const factors = rows.data() + row * table.width;
                       const T* const parts = of_bags.data() + bag * table.width;
                       for (std::int64_t column = 0; column < table.width; ++column) {
                         sums.data()[place] += factors[column] * parts[column];
                       }
                     });
    sums.commit();
  });
  return out;
}

Tensor embedding_bag_op(const Tensor& input, const Tensor& weight,
                        const std::optional<Tensor>& offsets, const std::string& mode,
                        const std::optional<Tensor>& per_sample_weights, bool include_last_offset,
                        std::optional<std::int64_t> padding_idx) {
  return embedding_bag(input, weight, mode,
                       {offsets, per_sample_weights, include_last_offset, padding_idx});
}

}  // namespace

Tensor embedding_bag(const Tensor& input, const Tensor& weight, const std::string& mode,
                     const BagOptions& options) {
  const OpFront front(kEmbeddingBag);
  require_embedding(input, weight, kEmbeddingBag);
  check_offsets(input, options);
  check_sample_weights(input, weight, mode_of(mode), options);
  const Bags bags = bags_of(input, mode_of(mode), options);
  const EmbeddingTable table = embedding_table(weight, options.padding_idx, kEmbeddingBag);
  const std::optional<Tensor>& given = options.per_sample_weights;
  const Tensor factors = given ? reshape(*given, {given->numel()}) : Tensor();
  Recorder record("EmbeddingBagBackward", {&weight, &factors});
  record.save(input);
  const TensorOptions of_places = options_of(input);
  Tensor largest_rows;  // goes after the others, where nothing keeps them
  const Tensor begins = options.offsets ? *options.offsets : empty({bags.count}, of_places);
  const Tensor sizes = empty(begins.shape(), of_places);
  const Tensor bag_of_index = empty({input.numel()}, of_places);
  Tensor out = empty({bags.count, table.width}, options_of(weight));
  if (bags.mode == BagMode::max) largest_rows = empty(out.shape(), of_places);
  reduce_bags(table, bags, row_major(input), weight, factors, largest_rows, out);
  record.save(begins);
  record.save(factors);
  record.save(factors.defined() && factors.requires_grad() ? weight : Tensor());
  for (const Tensor& kept : {bag_of_index, sizes, largest_rows}) record.save(kept);
  record.attach(out, [table, bags](BackwardCall& call) {
    TensorList grads(2);
    if (call.needs(1)) grads[1] = sample_gradient(table, bags, call.grad(), call);
    if (call.needs(0)) grads[0] = bag_gradient(table, bags, call.grad(), call);
    return grads;
  });
  return out;
}

std::vector<OpDef> embedding_bag_ops() {
  return {
      define(kEmbeddingBag, kFunctional, &embedding_bag_op,
             {"input",
              "weight",
              "offsets",
              {"mode", std::string("mean")},
              "per_sample_weights",
              {"include_last_offset", false},
              "padding_idx"}),
  };
}

}  // namespace ohm::ops
