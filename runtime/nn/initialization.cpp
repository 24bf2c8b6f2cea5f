#include "runtime/nn/initialization.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <vector>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/ops/matmul/host/gemm.h"

namespace ohm::nn::init {
namespace {

/// Rows of one length, one behind the other.
struct Rows {
  std::size_t count = 0;
  std::size_t length = 0;
  std::vector<double> values;

  double* begin(std::size_t row) { return values.data() + row * length; }
  ops::Matrix<double> matrix(std::size_t row, bool is_transposed = false) {
    return {begin(row), static_cast<std::int64_t>(length), is_transposed};
  }
};

double dot(const double* a, const double* b, std::size_t length) {
  return std::inner_product(a, a + length, b, 0.0);
}

// Gram and Schmidt's way, among rows [first, end).
void make_orthonormal(Rows& rows, std::size_t first, std::size_t end) {
  for (std::size_t i = first; i < end; ++i) {
    double* const row = rows.begin(i);
    for (std::size_t j = first; j < i; ++j) {
      const double* const other = rows.begin(j);
      const double share = dot(row, other, rows.length);
      for (std::size_t k = 0; k < rows.length; ++k) row[k] -= share * other[k];
    }
    const double size = std::sqrt(dot(row, row, rows.length));
    for (std::size_t k = 0; k < rows.length; ++k) row[k] /= size;
  }
}

// rows [first, end) −= their shares of the rows before, which are orthonormal.
void take_off_earlier_rows(Rows& rows, std::size_t first, std::size_t end) {
  const auto count = static_cast<std::int64_t>(end - first);
  const auto earlier = static_cast<std::int64_t>(first);
  const auto length = static_cast<std::int64_t>(rows.length);
  std::vector<double> shares(static_cast<std::size_t>(count * earlier));
  ops::host_gemm(count, earlier, length, rows.matrix(first), rows.matrix(0, true), 0.0,
                 shares.data(), earlier);
  for (double& share : shares) share = -share;
  ops::host_gemm(count, length, earlier, {shares.data(), earlier, false}, rows.matrix(0), 1.0,
                 rows.begin(first), length);
}

// Some rows at a time, so that most of the work is products of matrices; each twice: what rounding
// leaves goes in the second pass.
void make_orthonormal(Rows& rows) {
  constexpr std::size_t kRowsAtOnce = 32;
  constexpr int kPasses = 2;
  for (std::size_t first = 0; first < rows.count; first += kRowsAtOnce) {
    const std::size_t end = std::min(rows.count, first + kRowsAtOnce);
    for (int pass = 0; pass < kPasses; ++pass) {
      if (first > 0) take_off_earlier_rows(rows, first, end);
      make_orthonormal(rows, first, end);
    }
  }
}

std::vector<double> uniform_draws(std::size_t count) {
  const Tensor draws = empty({static_cast<std::int64_t>(count)}, {DType::float64, Device::cpu()});
  fill_uniform(draws, 0.0, 1.0);
  return to_doubles(draws);
}

/// Normal draws between bounds that such draws seldom meet, in units of the deviation: candidates
/// fall off from the place that is nearest to the mean no faster than the normal density, and are
/// kept as often as that has them.
class DrawsBetween {
 public:
  DrawsBetween(double low, double high)
      : low_(low), high_(high), nearest_(std::clamp(0.0, low, high)) {}

  /// `uniform` and `chance` are from [0, 1); nullopt: it is not kept.
  std::optional<double> draw(double uniform, double chance) const {
    const double candidate = nearest_ == 0.0 ? low_ + uniform * (high_ - low_) : falling(uniform);
    const double off = candidate - nearest_;
    if (chance < std::exp(-off * off / 2)) return candidate;
    return std::nullopt;
  }

 private:
  // Of a density e^(−rate · distance from the nearest bound).
  double falling(double uniform) const {
    const double rate = std::abs(nearest_);
    const double reached = -std::expm1(-rate * (high_ - low_));
    const double distance = -std::log1p(-uniform * reached) / rate;
    return nearest_ > 0 ? nearest_ + distance : nearest_ - distance;
  }

  double low_;
  double high_;
  double nearest_;
};

void write(const Tensor& tensor, const std::vector<double>& values) {
  copy_into(tensor, from_values(values, tensor.shape(), {tensor.dtype(), Device::cpu()}));
}

}  // namespace

Fans fans_of(const Tensor& weight, std::string_view function) {
  if (weight.dims() < 2) {
    throw std::invalid_argument(fmt::format(
        "[{}] fan in and fan out can not be computed for tensor with fewer than 2 dimensions",
        function));
  }
  double field = 1;
  for (int dim = 2; dim < weight.dims(); ++dim) field *= static_cast<double>(weight.shape()[dim]);
  return {static_cast<double>(weight.shape()[1]) * field,
          static_cast<double>(weight.shape()[0]) * field};
}

double gain_of(std::string_view nonlinearity, double param, std::string_view function) {
  constexpr double kOfTanh = 5.0 / 3.0;
  constexpr double kOfSelu = 0.75;
  if (nonlinearity == "relu") return std::sqrt(2.0);
  if (nonlinearity == "leaky_relu") return std::sqrt(2.0 / (1.0 + param * param));
  if (nonlinearity == "tanh") return kOfTanh;
  if (nonlinearity == "selu") return kOfSelu;
  for (const std::string_view known : {"linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d",
                                       "conv_transpose2d", "conv_transpose3d", "sigmoid"}) {
    if (nonlinearity == known) return 1.0;
  }
  throw std::invalid_argument(
      fmt::format("[{}] unsupported nonlinearity {}", function, nonlinearity));
}

void fill_truncated_normal(const Tensor& tensor, double mean, double deviation, double low,
                           double high) {
  if (!(low <= high)) {
    throw std::invalid_argument(
        fmt::format("[trunc_normal_] the bounds {} and {} leave nothing between them", low, high));
  }
  if (!std::isfinite(mean) || !std::isfinite(deviation) || deviation <= 0.0) {
    throw std::invalid_argument(
        fmt::format("[trunc_normal_] expected a finite mean and a std above 0, got {} and {}", mean,
                    deviation));
  }
  fill_normal(tensor, mean, deviation);
  if (!tensor.has_values()) return;
  // What falls outside is drawn again: with PyTorch's bounds, two deviations, one in twenty is.
  std::vector<double> values = to_doubles(tensor);
  const auto is_outside = [&](double value) { return value < low || value > high; };
  constexpr int kMostDraws = 100;
  for (int draw = 0; draw < kMostDraws; ++draw) {
    if (std::none_of(values.begin(), values.end(), is_outside)) return write(tensor, values);
    const Tensor fresh = empty(tensor.shape(), {tensor.dtype(), Device::cpu()});
    fill_normal(fresh, mean, deviation);
    const std::vector<double> others = to_doubles(fresh);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (is_outside(values[i])) values[i] = others[i];
    }
  }
  const DrawsBetween draws((low - mean) / deviation, (high - mean) / deviation);
  for (int draw = 0; draw < kMostDraws; ++draw) {
    if (std::none_of(values.begin(), values.end(), is_outside)) break;
    const std::vector<double> uniform = uniform_draws(values.size());
    const std::vector<double> chances = uniform_draws(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!is_outside(values[i])) continue;
      if (const auto drawn = draws.draw(uniform[i], chances[i])) {
        values[i] = std::clamp(mean + *drawn * deviation, low, high);
      }
    }
  }
  for (double& value : values) value = std::clamp(value, low, high);
  write(tensor, values);
}

void fill_orthogonal(const Tensor& tensor, double gain) {
  if (tensor.dims() < 2) {
    throw std::invalid_argument(
        "[orthogonal_] only tensors with 2 or more dimensions are supported");
  }
  if (!tensor.device().is_cpu()) {
    throw std::invalid_argument(
        "[orthogonal_] works on the host: initialise a model before it is moved to a GPU");
  }
  fill_normal(tensor, 0.0, 1.0);
  if (!tensor.has_values() || tensor.numel() == 0) return;
  const std::vector<double> drawn = to_doubles(tensor);
  const auto height = static_cast<std::size_t>(tensor.shape()[0]);
  const std::size_t width = drawn.size() / height;
  const bool is_tall = height > width;
  const auto place = [&](std::size_t row, std::size_t column) {
    return is_tall ? column * width + row : row * width + column;
  };
  Rows rows{std::min(height, width), std::max(height, width), {}};
  rows.values.resize(drawn.size());
  for (std::size_t i = 0; i < rows.count; ++i) {
    for (std::size_t k = 0; k < rows.length; ++k) rows.begin(i)[k] = drawn[place(i, k)];
  }
  make_orthonormal(rows);
  std::vector<double> values(drawn.size());
  for (std::size_t i = 0; i < rows.count; ++i) {
    for (std::size_t k = 0; k < rows.length; ++k) values[place(i, k)] = gain * rows.begin(i)[k];
  }
  write(tensor, values);
}

}  // namespace ohm::nn::init
