#include "runtime/ops/embedding_renorm.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/kernels/launch/host_values.h"
#include "runtime/ops/binary_kernel.h"
#include "runtime/ops/embedding_table.h"
#include "runtime/ops/extremum.h"
#include "runtime/ops/index_places.h"
#include "runtime/ops/sorting_scratch.h"
#include "runtime/ops/view.h"
#include "runtime/tensor/context.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kEmbeddingRenorm{"embedding_renorm_"};

// What sorting the indices and picking each one once takes. Later versions sort a copy of all of
// them as one line, earlier ones their last dimension.
void take_distinct_scratch(const Tensor& given) {
  if (!given.device().is_cuda() || given.numel() == 0) return;
  const bool is_later = Context::current().rules.has_later_embedding_gradient;
  const Tensor copied = is_later ? empty(given.shape(), options_of(given)) : Tensor();
  const Tensor indices = is_later ? unrecorded_reshape(given, {given.numel()}) : given;
  const Tensor sorted = sort(indices, -1, false).first;
  const Tensor distinct = empty({indices.numel()}, options_of(indices));
  const Tensor count = empty({}, {DType::int64, indices.device()});
  const Tensor scratch = empty_bytes(
      distinct_scratch_bytes(indices.numel(), indices.dtype(), indices.device()), indices.device());
}

double length_of(const double* row, std::int64_t width, double p) {
  if (std::isinf(p)) {
    double largest = 0.0;
    for (std::int64_t i = 0; i < width; ++i) largest = std::max(largest, std::abs(row[i]));
    return largest;
  }
  double sum = 0.0;
  for (std::int64_t i = 0; i < width; ++i) sum += std::pow(std::abs(row[i]), p);
  return std::pow(sum, 1.0 / p);
}

void shorten_rows(const Tensor& weight, const Tensor& indices, const RowBound& bound) {
  constexpr double kBesideZero = 1e-7;
  const std::int64_t width = weight.shape()[1];
  const std::vector<std::int64_t> named = to_integers(indices);
  std::vector<double> values = to_doubles(weight);
  for (const std::int64_t index : std::set<std::int64_t>(named.begin(), named.end())) {
    double* const row = values.data() + index * width;
    const double length = length_of(row, width, bound.norm_type);
    if (!(length > bound.max_norm)) continue;
    const double factor = bound.max_norm / (length + kBesideZero);
    std::for_each(row, row + width, [factor](double& x) { x *= factor; });
  }
  copy_into(weight, from_values(values, weight.shape(), {weight.dtype(), Device::cpu()}));
}

}  // namespace

void renorm_rows(const Tensor& weight, const Tensor& input, const RowBound& bound) {
  require_embedding(input, weight, kEmbeddingRenorm);
  const NoGradGuard no_graph;
  const Tensor indices = row_major(input);
  take_distinct_scratch(indices);
  if (weight.has_values() && indices.has_values()) {
    require_places(kEmbeddingRenorm, indices, {weight.shape()[0]});
    shorten_rows(weight, indices, bound);
  }
  weight.storage().bump_version();
}

}  // namespace ohm::ops
