#include "runtime/ops/reduction/counting.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/arithmetic/reduction_scratch.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/base/dim_mask.h"
#include "runtime/kernels/launch/host_values.h"
#include "runtime/ops/indexing/nonzero.h"
#include "runtime/ops/op_front.h"
#include "runtime/ops/pointwise/binary_kernel.h"
#include "runtime/ops/reduction/extremum.h"
#include "runtime/tensor/context.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kBincount{"bincount"};
constexpr OpInfo kHistc{"histc"};

// More counts than any device has memory for.
constexpr std::int64_t kMostCounts = std::int64_t{1} << 40;

// What a kernel that looks for both ends takes, which live as long as this: two numbers. One that
// looks for one after the other takes each alone.
class Ends {
 public:
  explicit Ends(const Tensor& input) {
    if (!input.device().is_cuda()) return;
    const NoGradGuard no_graph;
    if (!Context::current().rules.looks_for_both_extrema) {
      for (const auto find : {static_cast<Tensor (*)(const Tensor&)>(&min),
                              static_cast<Tensor (*)(const Tensor&)>(&max)}) {
        const Tensor end = find(input);
      }
      return;
    }
    smallest_ = empty({}, options_of(input));
    largest_ = empty({}, options_of(input));
    const Tensor dense = row_major(input);
    const ReductionScratch scratch(dense, all_dims(dense.dims()),
                                   {2 * item_bytes(input.dtype()), true});
  }
  Ends(const Ends&) = delete;
  Ends& operator=(const Ends&) = delete;
  ~Ends() { smallest_ = Tensor(); }

 private:
  Tensor largest_;
  Tensor smallest_;
};

void require_countable(const Tensor& input, const std::optional<Tensor>& weights,
                       std::int64_t minlength) {
  if (input.dims() != 1 || is_floating(input.dtype())) {
    throw std::invalid_argument(fmt::format(
        "[bincount] only supports 1-d non-negative integral inputs, got {}", describe(input)));
  }
  if (minlength < 0 || minlength > kMostCounts) {
    throw std::invalid_argument(fmt::format(
        "[bincount] minlength should be >= 0, and no more than fits, got {}", minlength));
  }
  if (!weights) return;
  require_same_device(input, *weights, kBincount);
  if (weights->shape() == input.shape()) return;
  throw std::invalid_argument(fmt::format(
      "[bincount] weights should be 1-d and have the same length as input, got {} and {}",
      weights->shape().str(), input.shape().str()));
}

std::int64_t count_of(const std::vector<std::int64_t>& numbers, std::int64_t minlength) {
  std::int64_t count = minlength;
  for (const std::int64_t number : numbers) {
    if (number < 0 || number >= kMostCounts) {
      throw std::invalid_argument(
          fmt::format("[bincount] only supports 1-d non-negative integral inputs, got {}", number));
    }
    count = std::max(count, number + 1);
  }
  return count;
}

double interval_of(double x, double low, double high, std::int64_t bins) {
  const double place = std::floor((x - low) / (high - low) * static_cast<double>(bins));
  return std::min(place, static_cast<double>(bins - 1));
}

void count_intervals(const Tensor& out, const Tensor& input, double low, double high) {
  if (!out.has_values() || lacks_values(input)) return;
  const std::vector<double> values = to_doubles(input);
  if (low == high && !values.empty()) {
    const auto [smallest, largest] = std::minmax_element(values.begin(), values.end());
    low = *smallest;
    high = *largest;
  }
  if (low == high) {
    low -= 1.0;
    high += 1.0;
  }
  std::vector<double> counts(static_cast<std::size_t>(out.numel()));
  for (const double x : values) {
    if (!(x >= low && x <= high)) continue;
    counts[static_cast<std::size_t>(interval_of(x, low, high, out.numel()))] += 1.0;
  }
  store_values(out, counts);
}

}  // namespace

Tensor bincount(const Tensor& input, const std::optional<Tensor>& given_weights,
                std::int64_t minlength) {
  const OpFront front(kBincount);
  require_countable(input, given_weights, minlength);
  if (input.numel() == 0) return zeros({minlength}, {DType::int64, input.device()});
  require_known_values(kBincount, input);
  const bool is_float = given_weights && given_weights->dtype() == DType::float32;
  const Tensor weights = !given_weights || is_float ? given_weights.value_or(Tensor())
                                                    : cast(*given_weights, DType::float64);
  const std::vector<std::int64_t> numbers = to_integers(input);
  const std::int64_t count = count_of(numbers, minlength);
  const Ends ends(input);
  const DType dtype = weights.defined() ? weights.dtype() : DType::int64;
  Tensor out = zeros({count}, {dtype, input.device()});
  std::vector<double> sums(static_cast<std::size_t>(count));
  const std::vector<double> shares =
      weights.defined() ? to_doubles(weights) : std::vector<double>();
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    sums[static_cast<std::size_t>(numbers[i])] += shares.empty() ? 1.0 : shares[i];
  }
  copy_into(out, from_values(sums, out.shape(), {dtype, Device::cpu()}));
  return out;
}

Tensor histc(const Tensor& input, std::int64_t bins, double low, double high) {
  const OpFront front(kHistc);
  if (input.dtype() != DType::float32 && input.dtype() != DType::float64) {
    throw std::invalid_argument(
        fmt::format("[histc] not implemented for {}", name_of(input.dtype())));
  }
  if (bins <= 0 || !std::isfinite(low) || !std::isfinite(high) || low > high) {
    throw std::invalid_argument(fmt::format(
        "[histc] expects some bins and a finite range whose max is not less than its min, got {} "
        "and {} to {}",
        bins, low, high));
  }
  Tensor out = zeros({bins}, options_of(input));
  if (low == high && input.numel() != 0) {
    const Ends ends(input);
  }
  count_intervals(out, input, low, high);
  return out;
}

std::vector<OpDef> counting_ops() {
  constexpr unsigned kBoth = kFunction | kMethod;
  return {
      define(kBincount, kBoth, &bincount, {"input", "weights", {"minlength", std::int64_t{0}}}),
      define(kHistc, kBoth, &histc,
             {"input", {"bins", std::int64_t{100}}, {"min", 0.0}, {"max", 0.0}}),
  };
}

}  // namespace ohm::ops
