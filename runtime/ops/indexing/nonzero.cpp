#include "runtime/ops/indexing/nonzero.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/kernels/launch/host_values.h"
#include "runtime/ops/op_front.h"
#include "runtime/ops/shape/slice.h"
#include "runtime/ops/sorting/sorting_scratch.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kNonzero{"nonzero"};
constexpr OpInfo kArgwhere{"argwhere"};

// The kernels count first, and list when the result is there.
class NonzeroScratch {
 public:
  explicit NonzeroScratch(const Tensor& input) : device_(input.device()), dense_(row_major(input)) {
    if (!device_.is_cuda()) return;
    count_ = empty({1}, {DType::int32, device_});
    const Tensor sum = empty_bytes(device_sum_scratch_bytes(dense_.numel(), device_), device_);
  }
  void list() const {
    if (!device_.is_cuda() || dense_.dims() == 0) return;
    const Tensor bytes =
        empty_bytes(flagged_selection_scratch_bytes(dense_.numel(), device_), device_);
  }

 private:
  Device device_;
  Tensor dense_;
  Tensor count_;
};

// Numbers of the elements, in row-major order.
std::vector<std::int64_t> chosen_elements(const Tensor& input) {
  const std::vector<double> values = to_doubles(input);
  std::vector<std::int64_t> chosen;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] != 0) chosen.push_back(static_cast<std::int64_t>(i));
  }
  return chosen;
}

// The places of elements by their numbers, dimension by dimension.
std::vector<double> places_of(const std::vector<std::int64_t>& elements, const Shape& shape) {
  std::vector<double> places;
  std::int64_t inner = shape.numel();
  for (const std::int64_t size : shape) {
    inner /= size;
    for (const std::int64_t element : elements) {
      places.push_back(static_cast<double>(element / inner % size));
    }
  }
  return places;
}

// The result: the places of these elements of `input`.
Tensor listed(const NonzeroScratch& search, const Tensor& input,
              const std::vector<std::int64_t>& elements) {
  const auto count = static_cast<std::int64_t>(elements.size());
  Tensor out = empty_strided({count, input.dims()}, {1, std::max<std::int64_t>(count, 1)},
                             {DType::int64, input.device()});
  search.list();
  if (out.numel() == 0) return out;
  const Tensor columns = make_view(out, {input.dims(), count}, {count, 1}, 0);
  copy_into(columns, from_values(places_of(elements, input.shape()), {input.dims(), count},
                                 {DType::int64, Device::cpu()}));
  return out;
}

Tensor argwhere(const Tensor& input) { return nonzero(input); }

Value nonzero_row(const Tensor& input, bool as_tuple) {
  if (as_tuple) return nonzero_by_dim(input);
  return nonzero(input);
}

}  // namespace

void require_known_values(const OpInfo& info, const Tensor& input) {
  if (!lacks_values(input)) return;
  throw std::invalid_argument(
      fmt::format("[{}] the size of the result depends on values, which a size-only device does "
                  "not keep: values = true keeps them",
                  info.name));
}

void take_nonzero_scratch(const Tensor& input) {
  const NonzeroScratch search(input);
  search.list();
}

Tensor nonzero(const Tensor& input) {
  const OpFront front(kNonzero);
  require_known_values(kNonzero, input);
  const NonzeroScratch search(input);
  return listed(search, input, chosen_elements(input));
}

Tensor places_of_all(const Tensor& mask) {
  const OpFront front(kNonzero);
  const NonzeroScratch search(mask);
  std::vector<std::int64_t> all(static_cast<std::size_t>(mask.numel()));
  std::iota(all.begin(), all.end(), 0);
  return listed(search, mask, all);
}

std::vector<Tensor> nonzero_by_dim(const Tensor& input) {
  return unbind(
      nonzero(input.dims() == 0 ? make_view(input, {1}, {1}, input.impl()->offset) : input), 1);
}

std::vector<OpDef> nonzero_ops() {
  return {define(kNonzero, kFunction | kMethod, &nonzero_row, {"input", {"as_tuple", false}}),
          define(kArgwhere, kFunction | kMethod, &argwhere, {"input"})};
}

}  // namespace ohm::ops
