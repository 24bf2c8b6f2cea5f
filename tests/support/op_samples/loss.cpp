// Sample inputs of losses.
#include <string>
#include <utility>
#include <vector>

#include "runtime/arithmetic/factories.h"
#include "runtime/kernels/launch/elementwise.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "tests/support/op_samples/families.h"

namespace ohm::test {

using ops::Value;

namespace {

std::vector<Sample> with_targets(const std::vector<double>& inputs) {
  const TensorOptions options{DType::float64, Device::cpu()};
  const Shape shape{2, 3};
  const auto operands = [&] {
    return Sample{from_values(inputs, shape, options),
                  from_values({0.1, 0.9, 0.3, 0.6, 0.2, 0.7}, shape, options)};
  };
  std::vector<Sample> samples = {operands(), operands(), operands()};
  const Tensor weight = from_values({0.5, 2.0, 1.5}, {3}, options);
  samples[1].insert(samples[1].end(), {weight, std::string("sum")});
  samples[2].insert(samples[2].end(), {Value(), std::string("none")});
  return samples;
}

std::vector<Sample> probabilities_and_targets() {
  return with_targets({0.3, 0.6, 0.2, 0.9, 0.45, 0.1});
}

std::vector<Sample> logits_and_probabilities() {
  std::vector<Sample> samples = with_targets({0.3, -1.6, 2.2, 0.9, -0.45, 1.1});
  Sample weighted = samples[1];
  weighted.emplace_back(from_values({3.0, 0.5, 1.0}, {3}, {DType::float64, Device::cpu()}));
  samples.push_back(weighted);
  return samples;
}

}  // namespace

std::vector<OpSamples> samples_of_loss_bce() {
  return {
      {"binary_cross_entropy", probabilities_and_targets},
      {"binary_cross_entropy_with_logits", logits_and_probabilities},
  };
}

namespace {

std::vector<Sample> cosine_embedding_samples() {
  const TensorOptions options{DType::float64, Device::cpu()};
  const auto vectors = [&] { return randn({3, 4}, options); };
  const Tensor opposites = from_values({1, -1, 1}, {3}, options);
  return {{vectors(), vectors(), opposites, -0.9}};
}

std::vector<Sample> gaussian_nll_samples() {
  const TensorOptions options{DType::float64, Device::cpu()};
  const auto values = [&] { return randn({3, 4}, options); };
  return {{values(), values(), ops::add(rand({3, 4}, options), 0.5)},
          {values(), values(), ops::add(rand({3}, options), 0.5), true, 1e-6, std::string("sum")}};
}

}  // namespace

std::vector<OpSamples> samples_of_loss_composed() {
  return {
      {"cosine_embedding_loss", cosine_embedding_samples},
      {"gaussian_nll_loss", gaussian_nll_samples},
  };
}

namespace {

std::vector<Sample> logits_and_targets() {
  const TensorOptions options{DType::float64, Device::cpu()};
  const auto classes = [](const std::vector<double>& values, const Shape& shape) {
    return from_values(values, shape, {DType::int64, Device::cpu()});
  };
  const Value ignored = std::int64_t{1};
  const std::string mean = "mean";
  const Tensor weight = from_values({0.5, 2.0, 1.5}, {3}, options);
  return {
      {randn({4, 3}, options), classes({0, 2, 1, 2}, {4})},
      {randn({4, 3}, options), classes({0, 2, 1, 2}, {4}), weight, ignored},
      {randn({3}, options), classes({2}, {})},
      {randn({2, 3, 2}, options), classes({0, 2, 1, 2}, {2, 2}), weight, ignored,
       std::string("sum")},
      {randn({4, 3}, options), classes({0, 2, 1, 2}, {4}), Value(), ignored, std::string("none")},
      {randn({4, 3}, options), classes({0, 2, 1, 2}, {4}), Value(), ignored, mean, 0.2},
      {randn({4, 3}, options), classes({0, 2, 1, 2}, {4}), weight, ignored, mean, 0.2},
      {randn({4, 3}, options), rand({4, 3}, options), Value(), ignored, mean, 0.2},
      {randn({2, 3, 2}, options), rand({2, 3, 2}, options), weight, ignored, std::string("none")},
  };
}

}  // namespace

std::vector<OpSamples> samples_of_loss_cross_entropy() {
  return {
      {"cross_entropy", logits_and_targets},
  };
}

namespace {

std::vector<Sample> ctc_samples() {
  const TensorOptions whole{DType::int64, Device::cpu()};
  const Tensor log_probs = randn({5, 2, 4}, {DType::float64, Device::cpu()});
  return {{log_probs, from_values({1, 2, 3, 3}, {2, 2}, whole), from_values({5, 4}, {2}, whole),
           from_values({2, 1}, {2}, whole), std::int64_t{0}, std::string("mean"), false}};
}

}  // namespace

std::vector<OpSamples> samples_of_loss_ctc() {
  return {
      {"ctc_loss", ctc_samples},
  };
}

namespace {

// A prediction and a target, no element at an edge of the pieces.
std::vector<Sample> prediction_and_target() {
  const TensorOptions options{DType::float64, Device::cpu()};
  const Shape shape{2, 3};
  const auto pair = [&] {
    return Sample{from_values({0.4, -1.7, 2.5, 0.1, -0.3, 1.2}, shape, options),
                  from_values({0.1, 0.6, -1.1, 0.5, -0.8, 3.0}, shape, options)};
  };
  std::vector<Sample> samples = {pair(), pair(), pair()};
  samples[0].emplace_back(std::string("mean"));
  samples[1].emplace_back(std::string("sum"));
  samples[2].emplace_back(std::string("none"));
  return samples;
}

}  // namespace

std::vector<OpSamples> samples_of_loss_distance() {
  return {
      {"mse_loss", prediction_and_target},
      {"smooth_l1_loss", prediction_and_target},
      {"huber_loss", prediction_and_target},
      {"l1_loss", prediction_and_target},
  };
}

namespace {

std::vector<Sample> log_probabilities_and_targets() {
  const TensorOptions options{DType::float64, Device::cpu()};
  const auto pair = [&](std::string reduction, bool log_target) {
    const Tensor target = from_values({0.2, 0.5, 0.3, 0.6, 0.3, 0.1}, {2, 3}, options);
    return Sample{randn({2, 3}, options), target, std::move(reduction), log_target};
  };
  return {pair("mean", false), pair("batchmean", false), pair("sum", true), pair("none", false)};
}

}  // namespace

std::vector<OpSamples> samples_of_loss_divergence() {
  return {
      {"kl_div", log_probabilities_and_targets},
  };
}

namespace {

Tensor margin_matrix() { return randn({3, 4}, {DType::float64, Device::cpu()}); }

Tensor signs(const Shape& shape) {
  Tensor tensor = randn(shape, {DType::float64, Device::cpu()});
  map_floating(
      tensor, DType::float64, [](double x) { return x < 0 ? -1.0 : 1.0; }, tensor);
  return tensor;
}

}  // namespace

std::vector<OpSamples> samples_of_loss_margin() {
  return {
      {"margin_ranking_loss",
       [] {
         return std::vector<Sample>{
             {margin_matrix(), margin_matrix(), signs({3, 4}), 0.3, std::string("mean")}};
       }},
      {"hinge_embedding_loss",
       [] {
         return std::vector<Sample>{{margin_matrix(), signs({3, 4}), 1.0, std::string("sum")}};
       }},
      {"triplet_margin_loss",
       [] {
         return std::vector<Sample>{
             {margin_matrix(), margin_matrix(), margin_matrix(), 3.0},
             {margin_matrix(), margin_matrix(), margin_matrix(), 3.0, 2.0, 1e-6, true}};
       }},
      {"poisson_nll_loss",
       [] {
         return std::vector<Sample>{{margin_matrix(), margin_matrix()}};
       }},
  };
}

namespace {

std::vector<Sample> multi_margin_samples() {
  const TensorOptions options{DType::float64, Device::cpu()};
  const auto scores = [&] { return randn({3, 4}, options); };
  const auto classes = [] { return from_values({1, 0, 3}, {3}, {DType::int64, Device::cpu()}); };
  const Tensor weight = rand({4}, options);
  return {{scores(), classes()},
          {scores(), classes(), std::int64_t{2}, 0.7, weight, std::string("none")}};
}

}  // namespace

std::vector<OpSamples> samples_of_loss_multi_margin() {
  return {
      {"multi_margin_loss", multi_margin_samples},
  };
}

std::vector<OpSamples> samples_of_loss_multilabel() {
  return {
      {"multilabel_soft_margin_loss",
       [] {
         const TensorOptions options{DType::float64, Device::cpu()};
         const Tensor scores = randn({3, 4}, options);
         const Tensor targets = rand({3, 4}, options);
         return std::vector<Sample>{{scores, targets},
                                    {scores, targets, rand({4}, options), std::string("none")}};
       }},
  };
}

namespace {

Tensor class_indices(const std::vector<double>& values, const Shape& shape) {
  return from_values(values, shape, {DType::int64, Device::cpu()});
}

std::vector<Sample> scores_and_targets() {
  const TensorOptions options{DType::float64, Device::cpu()};
  const Value ignored = std::int64_t{1};
  const Tensor weight = from_values({0.5, 2.0, 1.5}, {3}, options);
  return {
      {randn({4, 3}, options), class_indices({0, 2, 1, 2}, {4})},
      {randn({4, 3}, options), class_indices({0, 2, 1, 2}, {4}), weight, ignored},
      {randn({3}, options), class_indices({2}, {})},
      {randn({2, 3, 2}, options), class_indices({0, 2, 1, 2}, {2, 2}), weight, ignored,
       std::string("sum")},
      {randn({4, 3}, options), class_indices({0, 2, 1, 2}, {4}), Value(), ignored,
       std::string("none")},
  };
}

}  // namespace

std::vector<OpSamples> samples_of_loss_nll() {
  return {
      {"nll_loss", scores_and_targets},
  };
}

namespace {

std::vector<Sample> soft_margin_samples() {
  const TensorOptions options{DType::float64, Device::cpu()};
  const auto scores = [&] { return randn({3, 4}, options); };
  const Tensor targets = from_values({1, -1, 1, 1}, {4}, options);
  return {{scores(), targets}, {scores(), scores(), std::string("none")}};
}

}  // namespace

std::vector<OpSamples> samples_of_loss_soft_margin() {
  return {
      {"soft_margin_loss", soft_margin_samples},
  };
}

}  // namespace ohm::test
