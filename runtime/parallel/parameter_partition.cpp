#include "runtime/parallel/parameter_partition.h"

#include <algorithm>

namespace ohm::parallel {

std::vector<std::vector<Tensor>> partition_parameters(const std::vector<Tensor>& parameters,
                                                      int world_size) {
  std::vector<Tensor> by_size = parameters;
  std::stable_sort(by_size.begin(), by_size.end(),
                   [](const Tensor& a, const Tensor& b) { return a.numel() > b.numel(); });
  std::vector<std::vector<Tensor>> parts(static_cast<std::size_t>(world_size));
  std::vector<std::int64_t> elements(parts.size(), 0);
  for (const Tensor& parameter : by_size) {
    const auto smallest = std::min_element(elements.begin(), elements.end());
    *smallest += parameter.numel();
    parts[static_cast<std::size_t>(smallest - elements.begin())].push_back(parameter);
  }
  return parts;
}

}  // namespace ohm::parallel
