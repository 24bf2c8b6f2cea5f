#include "runtime/parallel/rank_reduction.h"

#include <fmt/core.h>

#include <array>
#include <stdexcept>

#include "runtime/arithmetic/copy.h"
#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/kernels/functors/generators.h"
#include "runtime/kernels/launch/elementwise.h"

namespace ohm::parallel {
namespace {

void merge(const Tensor& target, const Tensor& source, Reduction reduction) {
  target.bump_version();
  const DType dtype = target.dtype();
  switch (reduction) {
    case Reduction::product:
      return map_elements(target, dtype, functors::Product(), target, source);
    case Reduction::min:
      return map_elements(target, dtype, functors::Minimum(), target, source);
    case Reduction::max:
      return map_elements(target, dtype, functors::Maximum(), target, source);
    default:
      break;
  }
  // A sum of flags is whether one is set.
  if (dtype == DType::boolean) {
    return map_elements(target, dtype, functors::Maximum(), target, source);
  }
  map_elements(target, dtype, functors::Sum(), target, source);
}

bool is_same(const Tensor& a, const Tensor& b) {
  return &a.storage() == &b.storage() && a.impl()->offset == b.impl()->offset;
}

}  // namespace

std::string_view name_of(Reduction reduction) {
  constexpr std::array<std::string_view, 5> kNames = {"SUM", "AVG", "PRODUCT", "MIN", "MAX"};
  return kNames.at(static_cast<std::size_t>(reduction));
}

void require_reducible(std::string_view collective, Reduction reduction, DType dtype) {
  if (reduction != Reduction::avg || is_floating(dtype)) return;
  throw std::invalid_argument(fmt::format("[{}] AVG needs elements of a floating dtype, not {}",
                                          collective, info_of(dtype).name));
}

void reduce_into(const Tensor& target, const std::vector<Tensor>& sources, Reduction reduction) {
  // One of the sources that is the target has to be read before it is written.
  std::size_t first = 0;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (is_same(sources[i], target)) first = i;
  }
  if (!is_same(sources[first], target)) copy_into(target, sources[first]);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (i != first) merge(target, sources[i], reduction);
  }
  if (reduction != Reduction::avg || sources.size() == 1) return;
  target.bump_version();
  map_floating(target, target.dtype(), functors::Divided{static_cast<double>(sources.size())},
               target);
}

}  // namespace ohm::parallel
