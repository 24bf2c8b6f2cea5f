#include "runtime/ops/sorting/searching.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/kernels/launch/host_values.h"
#include "runtime/ops/op_front.h"
#include "runtime/ops/pointwise/binary_kernel.h"
#include "runtime/ops/pointwise/comparison.h"
#include "runtime/ops/reduction/reduction.h"
#include "runtime/ops/shape/view.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kSearchsorted{"searchsorted"};
constexpr OpInfo kBucketize{"bucketize"};
constexpr OpInfo kIsin{"isin"};

bool wants_right(bool right, const std::optional<std::string>& side) {
  if (!side) return right;
  if (*side != "left" && *side != "right") {
    throw std::invalid_argument(
        fmt::format("[searchsorted] side can only be 'left' or 'right' but got {}", *side));
  }
  if (right && *side == "left") {
    throw std::invalid_argument(
        "[searchsorted] side and right can't be set to opposites, got side of left while right "
        "was true");
  }
  return *side == "right";
}

// One row for all values, or one for each row of them.
void require_rows(const OpInfo& info, const Tensor& sorted, const Tensor& values) {
  require_same_device(sorted, values, info);
  bool fits = sorted.dims() == 1 || (sorted.dims() == values.dims() && sorted.dims() > 1);
  for (int dim = 0; fits && sorted.dims() > 1 && dim < sorted.dims() - 1; ++dim) {
    fits = sorted.shape()[dim] == values.shape()[dim];
  }
  if (fits) return;
  throw std::invalid_argument(fmt::format(
      "[{}] boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries "
      "tensor and input value tensor must match, but we got {} and {}",
      info.name, sorted.shape().str(), values.shape().str()));
}

// The first place in `row`, from `begin` on, before which all is less than a number, or not more.
template <class T>
double place_in(const std::vector<T>& row, std::int64_t begin, std::int64_t length, T number,
                bool right) {
  const auto first = row.begin() + begin;
  // No number is behind a NaN, and none of them before one.
  const auto found = std::partition_point(first, first + length, [&](T boundary) {
    return right ? !(boundary > number) : !(boundary >= number);
  });
  return static_cast<double>(found - first);
}

// Both are of one dtype.
void find_places(const Tensor& out, const Tensor& sorted, const Tensor& values, bool right) {
  if (!out.has_values() || lacks_values(sorted) || lacks_values(values)) return;
  const std::int64_t length = sorted.shape()[sorted.dims() - 1];
  const std::int64_t columns =
      sorted.dims() == 1 ? values.numel() : values.shape()[values.dims() - 1];
  std::vector<double> places;
  visit_numbers(sorted, [&]<class T>(const std::vector<T>& rows) {
    visit_numbers(values, [&](const auto& wanted) {
      for (const auto number : wanted) {
        const auto row = static_cast<std::int64_t>(places.size()) / columns;
        const std::int64_t begin = sorted.dims() == 1 ? 0 : row * length;
        places.push_back(place_in(rows, begin, length, static_cast<T>(number), right));
      }
    });
  });
  copy_into(out, from_values(places, out.shape(), {out.dtype(), Device::cpu()}));
}

Tensor searched(const OpInfo& info, const Tensor& given_sorted, const Tensor& given, bool out_int32,
                bool right) {
  const OpFront front(info);
  require_rows(info, given_sorted, given);
  Tensor out =
      empty(given.shape(), {out_int32 ? DType::int32 : DType::int64, given_sorted.device()});
  const DType common = result_dtype(given_sorted, given);
  // What is not row-major is copied first, and then converted.
  Tensor values = row_major(given);
  Tensor sorted = row_major(given_sorted);
  values = cast(values, common);
  sorted = cast(sorted, common);
  find_places(out, sorted, values, right);
  sorted = Tensor();
  return out;
}

Tensor number_on(Number number, Device device) {
  return full({}, number.value, {number.is_integer ? DType::int64 : DType::float64, device});
}

// With one number, in a row-major result.
Tensor compared_with(const Tensor& elements, const TensorOrNumber& number, bool invert) {
  Tensor out = empty(elements.shape(), {DType::boolean, elements.device()});
  const DType dtype = result_dtype(elements, number);
  if (invert) {
    map_elements(out, dtype, functors::Unequal(), elements, input_of(number));
  } else {
    map_elements(out, dtype, functors::Equal(), elements, input_of(number));
  }
  return out;
}

// PyTorch sorts both where there are more.
double most_compared(const Tensor& elements) {
  return 10.0 * std::pow(static_cast<double>(elements.numel()), 0.145);
}

}  // namespace

Tensor searchsorted(const Tensor& sorted_sequence, const TensorOrNumber& input, bool out_int32,
                    bool right, const std::optional<std::string>& side) {
  const bool is_right = wants_right(right, side);
  if (const Tensor* values = std::get_if<Tensor>(&input)) {
    return searched(kSearchsorted, sorted_sequence, *values, out_int32, is_right);
  }
  const OpFront front(kSearchsorted);
  if (sorted_sequence.dims() != 1) {
    throw std::invalid_argument(
        "[searchsorted] input value can be a scalar only when boundaries tensor dimension is 1");
  }
  const Tensor number = number_on(std::get<Number>(input), sorted_sequence.device());
  return searched(kSearchsorted, sorted_sequence, number, out_int32, is_right);
}

Tensor bucketize(const Tensor& input, const Tensor& boundaries, bool out_int32, bool right) {
  if (boundaries.dims() != 1) {
    throw std::invalid_argument(fmt::format(
        "[bucketize] boundaries tensor must be 1 dimension, but got {}", boundaries.shape().str()));
  }
  return searched(kBucketize, boundaries, input, out_int32, right);
}

Tensor isin(const Tensor& elements, const TensorOrNumber& test_elements, bool /*assume_unique*/,
            bool invert) {
  const OpFront front(kIsin);
  const NoGradGuard no_graph;
  const Tensor& others = tensor_of(test_elements);
  if (!others.defined()) return compared_with(elements, test_elements, invert);
  require_same_device(elements, others, kIsin);
  if (static_cast<double>(others.numel()) >= most_compared(elements)) {
    throw std::invalid_argument(fmt::format(
        "[isin] {} test elements are too many for {} elements: what PyTorch sorts for more than {} "
        "is not there",
        others.numel(), elements.numel(), static_cast<std::int64_t>(most_compared(elements))));
  }
  Tensor out = empty(elements.shape(), {DType::boolean, elements.device()});
  {
    Shape line(elements.dims(), 1);
    line.push_back(others.numel());
    const Tensor row = view(others, line);
    const Tensor each = unsqueeze(elements, -1);
    const Tensor compared = invert ? ne(each, row) : eq(each, row);
    copy_into(out, invert ? all(compared, Shape{-1}, false) : any(compared, Shape{-1}, false));
  }
  return out;
}

std::vector<OpDef> searching_ops() {
  const ParamName in32{"out_int32", false};
  const ParamName right{"right", false};
  return {
      define(kSearchsorted, kFunction, &searchsorted,
             {"sorted_sequence", "input", in32, right, "side"}),
      define(kBucketize, kFunction, &bucketize, {"input", "boundaries", in32, right}),
      define(kIsin, kFunction, &isin,
             {"elements", "test_elements", {"assume_unique", false}, {"invert", false}}),
  };
}

}  // namespace ohm::ops
