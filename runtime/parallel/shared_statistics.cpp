#include "runtime/parallel/shared_statistics.h"

#include <cmath>
#include <cstdint>
#include <vector>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"

namespace ohm::parallel {
namespace {

using Numbers = std::vector<double>;

void store(const Tensor& target, const Numbers& numbers) {
  if (!target.defined()) return;
  copy_into(target, from_values(numbers, target.shape(), {target.dtype(), Device::cpu()}));
}

/// The elements of [N, C, …] in row-major order, and the channel of each.
struct Channels {
  std::int64_t count;
  std::int64_t pixels;

  explicit Channels(const Shape& shape)
      : count(shape[1]), pixels(shape.numel() / std::max<std::int64_t>(shape[0] * shape[1], 1)) {}
  std::size_t of(std::size_t element) const {
    return element / static_cast<std::size_t>(pixels) % static_cast<std::size_t>(count);
  }
};

Numbers moved(const Tensor& running, const Numbers& towards, double momentum) {
  Numbers result = to_doubles(running);
  for (std::size_t i = 0; i < result.size(); ++i) {
    result[i] = (1 - momentum) * result[i] + momentum * towards[i];
  }
  return result;
}

/// Mean and sum of squared differences of a channel, over more and more elements.
struct Moments {
  double mean = 0;
  double squares = 0;
  double count = 0;

  void add(double other_mean, double other_squares, double other_count) {
    const double difference = other_mean - mean;
    const double both = count + other_count;
    mean += difference * other_count / both;
    squares += other_squares + difference * difference * count * other_count / both;
    count = both;
  }
};

Moments moments_of(const Numbers& means, const Numbers& invstds, const Numbers& counts,
                   std::size_t channel, double eps) {
  const std::size_t channels = means.size() / counts.size();
  Moments moments;
  for (std::size_t rank = 0; rank < counts.size(); ++rank) {
    const double invstd = invstds[rank * channels + channel];
    const double variance = 1 / (invstd * invstd) - eps;
    moments.add(means[rank * channels + channel], variance * counts[rank], counts[rank]);
  }
  return moments;
}

}  // namespace

void merge_statistics(const GatheredStatistics& gathered, double eps, const Tensor& mean,
                      const Tensor& invstd, const MovedStatistics& running) {
  if (!mean.has_values()) return;
  const Numbers means = to_doubles(gathered.means);
  const Numbers invstds = to_doubles(gathered.invstds);
  const Numbers counts = to_doubles(gathered.counts);
  Numbers all_means;
  Numbers all_invstds;
  Numbers variances;
  for (std::size_t channel = 0; channel < means.size() / counts.size(); ++channel) {
    const Moments moments = moments_of(means, invstds, counts, channel, eps);
    all_means.push_back(moments.mean);
    all_invstds.push_back(1 / std::sqrt(moments.squares / moments.count + eps));
    variances.push_back(moments.squares / (moments.count - 1));
  }
  store(mean, all_means);
  store(invstd, all_invstds);
  if (!running.mean.defined()) return;
  store(running.mean, moved(running.mean, all_means, running.momentum));
  store(running.variance, moved(running.variance, variances, running.momentum));
}

void sum_gradients(const NormPass& pass, const GradientSums& sums) {
  if (!pass.input.has_values()) return;
  const Channels channels(pass.input.shape());
  const Numbers grad = to_doubles(pass.grad);
  const Numbers input = to_doubles(pass.input);
  const Numbers mean = to_doubles(pass.mean);
  Numbers of_grad(mean.size());
  Numbers of_products(mean.size());
  for (std::size_t i = 0; i < grad.size(); ++i) {
    const std::size_t channel = channels.of(i);
    of_grad[channel] += grad[i];
    of_products[channel] += grad[i] * (input[i] - mean[channel]);
  }
  store(sums.of_grad, of_grad);
  store(sums.of_products, of_products);
  store(sums.bias, of_grad);
  const Numbers invstd = to_doubles(pass.invstd);
  for (std::size_t i = 0; i < invstd.size(); ++i) of_products[i] *= invstd[i];
  store(sums.weight, of_products);
}

void fill_input_gradient(const NormPass& pass, const Tensor& sum_of_grad,
                         const Tensor& sum_of_products, const Tensor& counts, const Tensor& out) {
  if (!pass.input.has_values()) return;
  const Channels channels(pass.input.shape());
  const Numbers input = to_doubles(pass.input);
  const Numbers mean = to_doubles(pass.mean);
  const Numbers invstd = to_doubles(pass.invstd);
  const Numbers weight = pass.weight.defined() ? to_doubles(pass.weight) : Numbers(mean.size(), 1);
  const Numbers sums = to_doubles(sum_of_grad);
  const Numbers products = to_doubles(sum_of_products);
  double count = 0;
  for (const double number : to_doubles(counts)) count += number;
  Numbers result = to_doubles(pass.grad);
  for (std::size_t i = 0; i < result.size(); ++i) {
    const std::size_t c = channels.of(i);
    const double slope = (input[i] - mean[c]) * invstd[c] * invstd[c] * products[c] / count;
    result[i] = (result[i] - sums[c] / count - slope) * invstd[c] * weight[c];
  }
  store(out, result);
}

}  // namespace ohm::parallel
