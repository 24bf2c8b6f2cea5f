#include "runtime/ops/shape/sections.h"

#include <fmt/core.h>

#include <stdexcept>

#include "runtime/ops/op_front.h"
#include "runtime/ops/shape/slice.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kTensorSplit{"tensor_split"};
constexpr OpInfo kHsplit{"hsplit"};
constexpr OpInfo kVsplit{"vsplit"};
constexpr OpInfo kDsplit{"dsplit"};
constexpr OpInfo kSplitWithSizes{"split_with_sizes"};

constexpr std::int64_t kMostSections = std::int64_t{1} << 20;

std::vector<Tensor> equal_parts(const OpInfo& info, const Tensor& input, std::int64_t sections,
                                int dim) {
  if (sections <= 0 || sections > kMostSections) {
    throw std::invalid_argument(
        fmt::format("[{}] number of sections must be larger than 0, and at most {}, got {}",
                    info.name, kMostSections, sections));
  }
  const std::int64_t size = input.shape()[dim];
  std::vector<Tensor> parts;
  std::int64_t start = 0;
  for (std::int64_t i = 0; i < sections; ++i) {
    const std::int64_t length = size / sections + (i < size % sections ? 1 : 0);
    parts.push_back(narrow(input, dim, start, length));
    start += length;
  }
  return parts;
}

std::vector<Tensor> parts_before(const Tensor& input, const Shape& indices, int dim) {
  std::vector<Tensor> parts;
  std::int64_t start = 0;
  for (const std::int64_t end : indices) {
    parts.push_back(slice(input, dim, start, end, 1));
    start = end;
  }
  parts.push_back(slice(input, dim, start, input.shape()[dim], 1));
  return parts;
}

std::vector<Tensor> parts_of(const OpInfo& info, const Tensor& input,
                             std::optional<std::int64_t> sections, std::int64_t dim,
                             const std::optional<Shape>& indices) {
  if (sections.has_value() == indices.has_value()) {
    throw std::invalid_argument(
        fmt::format("[{}] expected one of sections and indices", info.name));
  }
  if (input.dims() == 0) {
    throw std::invalid_argument(
        fmt::format("[{}] expected at least a 1-dimensional tensor", info.name));
  }
  const int position = wrap_dim(dim, input.dims(), info.name.data());
  return sections ? equal_parts(info, input, *sections, position)
                  : parts_before(input, *indices, position);
}

// Along a dimension that must be there; sections must come out even.
std::vector<Tensor> split_evenly(const OpInfo& info, const Tensor& input, int dim,
                                 std::optional<std::int64_t> sections,
                                 const std::optional<Shape>& indices) {
  if (input.dims() <= dim) {
    throw std::invalid_argument(
        fmt::format("[{}] requires a tensor with at least {} dimension{}, but got {}", info.name,
                    dim + 1, dim == 0 ? "" : "s", input.shape().str()));
  }
  if (sections && (*sections <= 0 || input.shape()[dim] % *sections != 0)) {
    throw std::invalid_argument(
        fmt::format("[{}] attempted to split along dimension {}, but the size of the dimension {} "
                    "is not divisible by the split_size {}",
                    info.name, dim, input.shape()[dim], *sections));
  }
  return parts_of(info, input, sections, dim, indices);
}

std::vector<Tensor> hsplit(const Tensor& input, std::optional<std::int64_t> sections,
                           const std::optional<Shape>& indices) {
  return split_evenly(kHsplit, input, input.dims() == 1 ? 0 : 1, sections, indices);
}

std::vector<Tensor> vsplit(const Tensor& input, std::optional<std::int64_t> sections,
                           const std::optional<Shape>& indices) {
  if (input.dims() < 2) {
    throw std::invalid_argument(fmt::format(
        "[vsplit] requires a tensor with at least 2 dimensions, but got {}", input.shape().str()));
  }
  return split_evenly(kVsplit, input, 0, sections, indices);
}

std::vector<Tensor> dsplit(const Tensor& input, std::optional<std::int64_t> sections,
                           const std::optional<Shape>& indices) {
  return split_evenly(kDsplit, input, 2, sections, indices);
}

std::vector<Tensor> split_with_sizes(const Tensor& input, const Shape& sizes, std::int64_t dim) {
  if (sizes.dims() != 1) return split(input, sizes, dim);
  // One size is the whole dimension's here, where split() makes as many parts as there are.
  if (input.dims() == 0 ||
      sizes[0] != input.shape()[wrap_dim(dim, input.dims(), "split_with_sizes")]) {
    throw std::invalid_argument(
        fmt::format("[split_with_sizes] sizes {} do not sum up to the size of dimension {} of {}",
                    sizes.str(), dim, input.shape().str()));
  }
  return split_by_sizes(input, sizes, dim);
}

}  // namespace

std::vector<Tensor> tensor_split(const Tensor& input, std::optional<std::int64_t> sections,
                                 std::int64_t dim, const std::optional<Shape>& indices) {
  return parts_of(kTensorSplit, input, sections, dim, indices);
}

std::vector<OpDef> section_ops() {
  constexpr unsigned kBoth = kFunction | kMethod;
  const ParamName first{"dim", std::int64_t{0}};
  return {
      define(kTensorSplit, kBoth, &tensor_split, {"input", "sections", first, "indices"}),
      define(kHsplit, kBoth, &hsplit, {"input", "sections", "indices"}),
      define(kVsplit, kBoth, &vsplit, {"input", "sections", "indices"}),
      define(kDsplit, kBoth, &dsplit, {"input", "sections", "indices"}),
      define(kSplitWithSizes, kBoth, &split_with_sizes, {"input", "split_sizes", first}),
  };
}

}  // namespace ohm::ops
