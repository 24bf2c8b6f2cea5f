#include "runtime/ops/random/sampling.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "runtime/arithmetic/copy.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/autograd/recorder.h"
#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/kernels/launch/host_values.h"
#include "runtime/ops/pointwise/binary_kernel.h"
#include "runtime/ops/pointwise/comparison.h"
#include "runtime/ops/pointwise/inplace_binary.h"
#include "runtime/ops/pointwise/pointwise_kernel.h"
#include "runtime/ops/reduction/extremum.h"
#include "runtime/ops/reduction/reduction.h"
#include "runtime/ops/sorting/sorting_scratch.h"
#include "runtime/tensor/context.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kMultinomial{"multinomial"};
constexpr OpInfo kBernoulli{"bernoulli"};
constexpr OpInfo kNormal{"normal"};

void check(const Tensor& input, std::int64_t num_samples, bool replacement) {
  require_floating(input, kMultinomial);
  if (input.dims() < 1 || input.dims() > 2 || input.numel() == 0) {
    throw std::invalid_argument(fmt::format(
        "[multinomial] expected weights [n] or [rows, n], got {}", input.shape().str()));
  }
  if (num_samples <= 0) {
    throw std::invalid_argument("[multinomial] cannot sample n_sample <= 0 samples");
  }
  if (!replacement && num_samples > input.size(-1)) {
    throw std::invalid_argument(
        "[multinomial] cannot sample n_sample > prob_dist.size(-1) samples without replacement");
  }
}

// What PyTorch looks at before it draws on a GPU: four numbers about the weights, and whether a row
// has none. They live until the draw is over.
class WeightChecks {
 public:
  explicit WeightChecks(const Tensor& input) {
    if (!input.device().is_cuda()) return;
    if (Context::current().rules.looks_for_both_extrema) {
      largest_ = max(input);
      smallest_ = min(input);
      is_valid_ = within_bounds(largest_, smallest_);
    } else {
      is_valid_ = within_bounds_one_by_one(input);
    }
    {
      const Tensor totals = input.dims() == 1 ? sum(input, std::nullopt, false, std::nullopt)
                                              : sum(input, Shape{1}, false, std::nullopt);
      Tensor is_zero = eq(totals, 0.0);
      has_none_ = input.dims() == 1 ? is_zero : any(is_zero);
    }
    const Tensor has_some = logical_not(has_none_);
  }
  WeightChecks(const WeightChecks&) = delete;
  WeightChecks& operator=(const WeightChecks&) = delete;
  ~WeightChecks() {
    has_none_ = Tensor();
    is_valid_ = Tensor();
    largest_ = Tensor();
  }

 private:
  static Tensor within_bounds(const Tensor& largest, const Tensor& smallest) {
    const Tensor is_finite = lt(largest, std::numeric_limits<double>::infinity());
    const Tensor is_weight = ge(smallest, 0.0);
    return logical_and(is_finite, is_weight);
  }
  static Tensor within_bounds_one_by_one(const Tensor& input) {
    const Tensor largest = max(input);
    const Tensor is_finite = lt(largest, std::numeric_limits<double>::infinity());
    const Tensor smallest = min(input);
    const Tensor is_weight = ge(smallest, 0.0);
    return logical_and(is_finite, is_weight);
  }

  Tensor largest_;
  Tensor smallest_;
  Tensor is_valid_;
  Tensor has_none_;
};

void require_weights(const double* weights, std::int64_t count) {
  const auto is_weight = [](double w) { return w >= 0 && std::isfinite(w); };
  if (!std::all_of(weights, weights + count, is_weight)) {
    throw std::invalid_argument(
        "[multinomial] probability tensor contains either `inf`, `nan` or element < 0");
  }
  if (std::all_of(weights, weights + count, [](double w) { return w == 0; })) {
    throw std::invalid_argument(
        "[multinomial] invalid multinomial distribution (sum of probabilities <= 0)");
  }
}

// The places whose exponential clocks ring first: those with the largest weight / −log(u).
void race(const double* weights, const double* uniform, std::int64_t count, std::int64_t picked,
          std::int64_t* places) {
  std::vector<double> speed(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    const double time = -std::log1p(-uniform[i]);
    speed[static_cast<std::size_t>(i)] =
        time > 0 ? weights[i] / time : std::numeric_limits<double>::max() * weights[i];
  }
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::partial_sort(
      order.begin(), order.begin() + picked, order.end(), [&](std::int64_t a, std::int64_t b) {
        return speed[static_cast<std::size_t>(a)] > speed[static_cast<std::size_t>(b)];
      });
  std::copy_n(order.begin(), picked, places);
}

// For each number in [0, 1) the place where the running sum of the weights passes it.
void look_up(const double* weights, std::int64_t count, const double* uniform, std::int64_t samples,
             std::int64_t* places) {
  std::vector<double> sums(weights, weights + count);
  std::partial_sum(sums.begin(), sums.end(), sums.begin());
  for (std::int64_t i = 0; i < samples; ++i) {
    const auto found = std::upper_bound(sums.begin(), sums.end(), uniform[i] * sums.back());
    places[i] = std::min<std::int64_t>(found - sums.begin(), count - 1);
  }
}

// draw(weights, uniform, places) for each row of the weights.
template <class Draw>
void for_each_row(const Tensor& input, const Tensor& uniform, const Tensor& out, Draw&& draw) {
  if (!out.has_values() || !input.has_values()) return;
  const std::vector<double> weights = to_doubles(input);
  const std::vector<double> numbers = to_doubles(uniform);
  std::vector<std::int64_t> places(static_cast<std::size_t>(out.numel()));
  const std::int64_t count = input.size(-1);
  const std::int64_t rows = input.numel() / count;
  const std::int64_t drawn = uniform.numel() / rows;
  for (std::int64_t row = 0; row < rows; ++row) {
    require_weights(weights.data() + row * count, count);
    draw(weights.data() + row * count, numbers.data() + row * drawn,
         places.data() + row * out.size(-1));
  }
  copy_into(
      out, from_values({places.begin(), places.end()}, out.shape(), {DType::int64, Device::cpu()}));
}

void draw_without_replacement(const Tensor& input, std::int64_t num_samples, const Tensor& out) {
  const WeightChecks checks(input);
  const Tensor uniform = empty_like(input);
  fill_uniform(uniform, 0.0, 1.0);
  Tensor values;  // of the picked ones; not returned
  if (num_samples > 1 && input.device().is_cuda()) values = empty(out.shape(), options_of(input));
  for_each_row(input, uniform, out,
               [&](const double* weights, const double* numbers, std::int64_t* places) {
                 race(weights, numbers, input.size(-1), num_samples, places);
               });
  values = Tensor();
}

void draw_with_replacement(const Tensor& input, std::int64_t num_samples, const Tensor& out) {
  std::vector<Tensor> scratch;
  if (input.device().is_cuda()) {
    const bool copies_weights = !Context::current().rules.looks_for_both_extrema;
    for (int i = copies_weights ? 0 : 1; i < 3; ++i) scratch.push_back(empty_like(input));
    if (input.numel() == input.size(-1)) {  // the running sums of one row are the library's work
      const std::int64_t bytes = scan_scratch_bytes(input.numel(), input.dtype(), input.device());
      const Tensor sums = empty_bytes(bytes, input.device());
    }
  }
  const Tensor uniform = empty(out.shape(), {DType::float64, Device::cpu()});
  fill_uniform(uniform, 0.0, 1.0);
  for_each_row(input, uniform, out,
               [&](const double* weights, const double* numbers, std::int64_t* places) {
                 look_up(weights, input.size(-1), numbers, num_samples, places);
               });
  while (!scratch.empty()) scratch.pop_back();
}

}  // namespace

Tensor multinomial(const Tensor& input, std::int64_t num_samples, bool replacement) {
  const OpFront front(kMultinomial);
  check(input, num_samples, replacement);
  Shape shape = input.shape();
  shape[shape.dims() - 1] = num_samples;
  Tensor out = empty(shape, {DType::int64, input.device()});
  const GradModeGuard no_graph(false);
  if (replacement && num_samples > 1) {
    draw_with_replacement(input, num_samples, out);
  } else {
    draw_without_replacement(input, num_samples, out);
  }
  return out;
}

void take_permutation_scratch(std::int64_t count, Device device) {
  if (!device.is_cuda() || count == 0) return;
  { const Tensor number = empty({}, {DType::int64, device}); }
  // Keys of 32 bits, as long as two of them are seldom the same.
  const auto n = static_cast<double>(count);
  const double bits = std::ceil(std::log2(n - (6 * n * n + 1) / (12 * std::log(0.9))));
  const bool has_short_keys = bits <= 32;
  const TensorOptions of_keys{has_short_keys ? DType::int32 : DType::int64, device};
  Tensor range = empty({count}, {DType::int64, device});
  Tensor keys = empty({count}, of_keys);
  Tensor sorted = empty({count}, of_keys);
  const auto key_bytes = static_cast<std::int64_t>(item_bytes(of_keys.dtype));
  constexpr double kMostBits = 62;
  const auto largest_key = static_cast<std::int64_t>(std::exp2(std::min(bits, kMostBits))) - 1;
  Tensor scratch =
      empty_bytes(bounded_sort_scratch_bytes(count, key_bytes, largest_key, device), device);
  scratch = Tensor();
  sorted = Tensor();
  keys = Tensor();
  range = Tensor();
}

// Here and on the host: a real GPU finds out later.
void require_probabilities(const Tensor& input) {
  if (lacks_values(input) || input.cuda_backend() != nullptr) return;
  for (const double p : to_doubles(input)) {
    if (p >= 0.0 && p <= 1.0) continue;
    throw std::invalid_argument(
        fmt::format("[bernoulli] expected probabilities from 0 to 1, got {}", p));
  }
}

Tensor bernoulli(const Tensor& input) {
  const OpFront front(kBernoulli);
  require_floating(input, kBernoulli);
  require_probabilities(input);
  Recorder record("BernoulliBackward", {&input});
  Tensor out = empty(input.shape(), options_of(input));
  record.attach(out, [](BackwardCall& call) { return TensorList{zeros_like(call.grad())}; });
  // A GPU reads probabilities of float32 for everything but float64.
  const bool is_half = item_bytes(input.dtype()) == 2 && input.device().is_cuda();
  const Tensor probabilities = is_half ? cast(input, DType::float32) : input;
  fill_uniform(out, 0.0, 1.0);
  if (!out.has_values() || !input.has_values()) return out;
  map_floating(out, out.dtype(), functors::Less(), out, probabilities);
  return out;
}

namespace {

constexpr std::string_view kNoDeviation = "[normal] normal expects all elements of std >= 0.0";

// PyTorch looks twice: where the result is made, and where it is written.
void require_deviations(const Tensor& std) {
  if (std.numel() == 0) return;
  const Tensor smallest = min(std);
  const Tensor is_valid = ge(smallest, 0);
  if (is_valid.has_values() && is_valid.item() == 0) {
    throw std::invalid_argument(std::string(kNoDeviation));
  }
}

void require_deviation(double std) {
  if (std >= 0.0) return;
  throw std::invalid_argument(
      fmt::format("[normal] normal expects std >= 0.0, but found std {}", std));
}

// What the result is of where one of them is a tensor.
Tensor normal_result(const TensorOrNumber& mean, const TensorOrNumber& std) {
  const auto* const means = std::get_if<Tensor>(&mean);
  const auto* const deviations = std::get_if<Tensor>(&std);
  if (means == nullptr) return empty(deviations->shape(), options_of(*deviations));
  if (deviations == nullptr) return empty(means->shape(), options_of(*means));
  require_same_device(*means, *deviations, kNormal);
  return empty(broadcast_shapes(means->shape(), deviations->shape(), "normal"), options_of(*means));
}

void draw_normal(const Tensor& out, const TensorOrNumber& mean, const TensorOrNumber& std) {
  const auto* const deviations = std::get_if<Tensor>(&std);
  if (deviations == nullptr) {
    const Tensor unused = empty(out.shape(), options_of(out));  // PyTorch makes it
    fill_normal(out, 0.0, std::get<Number>(std).value);
    add_(out, mean);
    return;
  }
  require_deviations(*deviations);
  Tensor number;
  if (const auto* given = std::get_if<Number>(&mean)) {
    number = full({}, given->value, options_of(out));
  }
  fill_normal(out, 0.0, 1.0);
  mul_(out, *deviations);
  add_(out, number.defined() ? TensorOrNumber(number) : mean);
}

Tensor normal_of_numbers(double mean, double std, const std::optional<Shape>& size,
                         std::optional<DType> dtype, std::optional<Device> device) {
  if (!size) throw std::invalid_argument("[normal] a mean and a std that are numbers need a size");
  require_deviation(std);
  Tensor out = empty(*size, {dtype.value_or(DType::float32), device.value_or(Device::cpu())});
  require_floating(out, kNormal);
  fill_normal(out, mean, std);
  return out;
}

const Tensor* recorded_input(const TensorOrNumber& given) { return std::get_if<Tensor>(&given); }

TensorList zero_gradients(const BackwardCall& call, const std::vector<Shape>& shapes) {
  TensorList gradients;
  for (const Shape& shape : shapes) gradients.push_back(zeros(shape, options_of(call.grad())));
  return gradients;
}

}  // namespace

Tensor normal(const TensorOrNumber& mean, const TensorOrNumber& std,
              const std::optional<Shape>& size, std::optional<DType> dtype,
              std::optional<Device> device) {
  const OpFront front(kNormal);
  const Tensor* const means = recorded_input(mean);
  const Tensor* const deviations = recorded_input(std);
  if (means == nullptr && deviations == nullptr) {
    return normal_of_numbers(std::get<Number>(mean).value, std::get<Number>(std).value, size, dtype,
                             device);
  }
  if (size || dtype || device) {
    throw std::invalid_argument("[normal] size, dtype and device are those of the tensor");
  }
  std::vector<Tensor> inputs;
  std::vector<Shape> shapes;
  for (const Tensor* input : {means, deviations}) {
    if (input == nullptr) continue;
    require_floating(*input, kNormal);
    inputs.push_back(*input);
    shapes.push_back(input->shape());
  }
  Recorder record("NormalBackward", inputs);
  Tensor out;
  {
    const NoGradGuard no_graph;
    if (deviations == nullptr) {
      require_deviation(std::get<Number>(std).value);
    } else {
      require_deviations(*deviations);
    }
    out = normal_result(mean, std);
    draw_normal(out, mean, std);
  }
  record.attach(out, [shapes](BackwardCall& call) { return zero_gradients(call, shapes); });
  return out;
}

std::vector<OpDef> sampling_ops() {
  constexpr unsigned kBoth = kFunction | kMethod;
  return {
      define(kMultinomial, kBoth, &multinomial, {"input", "num_samples", {"replacement", false}}),
      define(kBernoulli, kBoth, &bernoulli, {"input"}),
      define(kNormal, kFunction, &normal, {"mean", {"std", 1.0}, {"size"}, {"dtype"}, {"device"}}),
  };
}

}  // namespace ohm::ops
