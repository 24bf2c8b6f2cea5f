#include "runtime/ops/embedding/embedding_renorm.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/ops/shape/view.h"
#include "runtime/ops/sorting/sorting.h"
#include "runtime/ops/sorting/sorting_scratch.h"
#include "runtime/tensor/context.h"

namespace ohm::ops {
namespace {

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

}  // namespace

void take_distinct_scratch(const Tensor& given) {
  if (!given.device().is_cuda() || given.numel() == 0) return;
  const NoGradGuard no_graph;
  const bool is_one_line = Context::current().rules.distinct_indices_are_one_line;
  const Tensor copied = is_one_line ? empty(given.shape(), options_of(given)) : Tensor();
  const Tensor indices = is_one_line ? unrecorded_reshape(given, {given.numel()}) : given;
  const Tensor sorted = sort(indices, -1, false).first;
  const Tensor distinct = empty({indices.numel()}, options_of(indices));
  const Tensor count = empty({}, {DType::int64, indices.device()});
  const Tensor scratch = empty_bytes(
      distinct_scratch_bytes(indices.numel(), indices.dtype(), indices.device()), indices.device());
}

void shorten_rows(const Tensor& weight, const Tensor& indices, const RowBound& bound) {
  weight.bump_version();
  if (!weight.has_values() || !indices.has_values()) return;
  constexpr double kBesideZero = 1e-7;
  const std::int64_t width = weight.shape()[1];
  const std::vector<std::int64_t> named = to_integers(indices);
  std::vector<double> values = to_doubles(weight);
  for (const std::int64_t index : std::set<std::int64_t>(named.begin(), named.end())) {
    if (index < 0 || index >= weight.shape()[0]) continue;  // an error that is told later
    double* const row = values.data() + index * width;
    const double length = length_of(row, width, bound.norm_type);
    if (!(length > bound.max_norm)) continue;
    const double factor = bound.max_norm / (length + kBesideZero);
    std::for_each(row, row + width, [factor](double& x) { x *= factor; });
  }
  copy_into(weight, from_values(values, weight.shape(), {weight.dtype(), Device::cpu()}));
}

}  // namespace ohm::ops
