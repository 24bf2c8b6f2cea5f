// Sample inputs of ops along dims.
#include <limits>
#include <utility>
#include <vector>

#include "runtime/arithmetic/factories.h"
#include "tests/support/op_samples/families.h"
#include "tests/support/op_samples/sample_cube.h"

namespace ohm::test {

using ops::Value;

namespace {

Sample cube(std::vector<Value> arguments) {
  Sample sample{randn({2, 3, 4}, {DType::float64, Device::cpu()})};
  sample.insert(sample.end(), arguments.begin(), arguments.end());
  return sample;
}

}  // namespace

std::vector<OpSamples> samples_of_extremum() {
  const auto dims = [] {
    return std::vector<Sample>{cube({}), cube({1.0, false}), cube({0.0, true})};
  };
  return {
      {"max", dims},
      {"min", dims},
  };
}

namespace {

std::vector<Sample> reduced_samples() {
  const Tensor numbers = randn({2, 3, 4}, {DType::float64, Device::cpu()});
  return {{numbers}, {numbers, Shape{1}, false}, {numbers, Shape{0, 2}, true}};
}

}  // namespace

std::vector<OpSamples> samples_of_nan_reduction() {
  return {
      {"nansum", reduced_samples},
      {"nanmean", reduced_samples},
  };
}

namespace {

std::vector<Sample> distance_samples() {
  const TensorOptions options{DType::float64, Device::cpu()};
  return {{randn({2, 3}, options), randn({3}, options)},
          {randn({2, 3}, options), randn({2, 3}, options), 1.0}};
}

std::vector<Sample> norm_samples() {
  const TensorOptions options{DType::float64, Device::cpu()};
  return {{randn({2, 3, 4}, options)},
          {randn({2, 3}, options), 1.0, Shape{1}, true},
          {randn({2, 3}, options), 2.0, Shape{0}, false},
          {randn({2, 3}, options), std::numeric_limits<double>::infinity()},
          {randn({2, 3}, options), 3.0},
          {randn({2, 3}, options), 1.5, Shape{0}, true},
          {randn({2, 3}, options), 0.5},
          {randn({2, 3}, options), -std::numeric_limits<double>::infinity(), Shape{1}, false}};
}

}  // namespace

std::vector<OpSamples> samples_of_norm() {
  return {
      {"norm", norm_samples},
      {"dist", distance_samples},
  };
}

namespace {

std::vector<Sample> ranked_samples(const std::vector<std::vector<Value>>& argument_lists) {
  std::vector<Sample> samples;
  for (const std::vector<Value>& arguments : argument_lists) {
    samples.push_back({randn({2, 3, 4}, {DType::float64, Device::cpu()})});
    samples.back().insert(samples.back().end(), arguments.begin(), arguments.end());
  }
  return samples;
}

}  // namespace

std::vector<OpSamples> samples_of_order_statistics() {
  const auto one = std::int64_t{1};
  return {
      {"median",
       [one] {
         return ranked_samples({{}, {one, false}, {std::int64_t{0}, true}});
       }},
      {"nanmedian",
       [one] {
         return ranked_samples({{}, {one, false}, {std::int64_t{0}, true}});
       }},
      {"kthvalue",
       [one] {
         return ranked_samples({{std::int64_t{2}, one, false}, {one, one, true}});
       }},
      {"mode",
       [one] {
         return ranked_samples({{one, false}, {std::int64_t{0}, true}});
       }},
      {"msort", [] { return ranked_samples({{}}); }},
  };
}

namespace {

Tensor matrix_away_from_zero() {
  return from_values({-1.5, -0.4, 0.3, 0.9, 1.7, -2.2, 0.5, 1.2, -0.7, 2.0, 0.8, -1.1}, {3, 4},
                     {DType::float64, Device::cpu()});
}

}  // namespace

std::vector<OpSamples> samples_of_product() {
  const auto along = [](Value dim, bool keeps) {
    return Sample{matrix_away_from_zero(), std::move(dim), keeps};
  };
  const auto over_one = [along] {
    return std::vector<Sample>{along(Value(), false), along(std::int64_t{1}, false),
                               along(std::int64_t{0}, true)};
  };
  const auto over_several = [along] {
    return std::vector<Sample>{along(Value(), false), along(Shape{1}, false),
                               along(Shape{0, 1}, true)};
  };
  return {
      {"prod", over_one},
      {"logsumexp",
       [along] {
         return std::vector<Sample>{along(Shape{1}, false), along(Shape{0, 1}, true)};
       }},
      {"amax", over_several},
      {"amin", over_several},
  };
}

namespace {

std::vector<Sample> with_arguments(const std::vector<std::vector<Value>>& argument_lists) {
  std::vector<Sample> samples;
  for (const std::vector<Value>& arguments : argument_lists) {
    Sample sample{randn({2, 3, 4}, {DType::float64, Device::cpu()})};
    sample.insert(sample.end(), arguments.begin(), arguments.end());
    samples.push_back(std::move(sample));
  }
  return samples;
}

}  // namespace

std::vector<OpSamples> samples_of_reduction() {
  return {
      {"sum",
       [] {
         return with_arguments({{Value(), false, Value()},
                                {Shape{1}, false, Value()},
                                {Shape{0, -1}, true, Value()}});
       }},
      {"mean",
       [] {
         return with_arguments({{Value(), false, Value()},
                                {Shape{1}, false, Value()},
                                {Shape{0, -1}, true, Value()}});
       }},
  };
}

namespace {

std::vector<Sample> row_samples() {
  const TensorOptions options{DType::float64, Device::cpu()};
  return {{randn({3, 4}, options), randn({2, 4}, options), 2.0},
          {randn({2, 3, 4}, options), randn({2, 2, 4}, options), 3.0},
          {randn({2, 3, 4}, options), randn({2, 26, 4}, options), 2.0},
          {randn({3, 4}, options), randn({2, 2, 4}, options), 3.0},
          {randn({2, 1, 3, 4}, options), randn({2, 26, 4}, options), 2.0}};
}

}  // namespace

std::vector<OpSamples> samples_of_row_distance() {
  return {
      {"cdist", row_samples},
  };
}

std::vector<OpSamples> samples_of_running_extremum() {
  const auto along_rows = [] { return cube_and({std::int64_t{1}}); };
  return {
      {"cummax", along_rows},
      {"cummin", along_rows},
  };
}

std::vector<OpSamples> samples_of_scan() {
  const auto along_rows = [] { return cube_and({std::int64_t{1}}); };
  const auto of_a_dtype = [] { return cube_and({std::int64_t{1}, Value()}); };
  return {
      {"cumsum", of_a_dtype},
      {"cumprod", of_a_dtype},
      {"logcumsumexp", along_rows},
  };
}

namespace {

std::vector<Sample> along_each_dimension() {
  const TensorOptions options{DType::float64, Device::cpu()};
  const auto last = std::int64_t{-1};
  const auto first = std::int64_t{0};
  return {{randn({3, 4}, options), last}, {randn({2, 3, 2}, options), first}};
}

}  // namespace

std::vector<OpSamples> samples_of_softmax() {
  return {
      {"softmax", along_each_dimension},
      {"log_softmax", along_each_dimension},
  };
}

namespace {

Sample cube_to_sort(std::vector<Value> arguments) {
  Sample sample{randn({2, 3, 4}, {DType::float64, Device::cpu()})};
  sample.insert(sample.end(), arguments.begin(), arguments.end());
  return sample;
}

}  // namespace

std::vector<OpSamples> samples_of_sorting() {
  const auto one = std::int64_t{1};
  return {
      {"sort",
       [one] {
         return std::vector<Sample>{cube_to_sort({one, false, false}),
                                    cube_to_sort({one, true, false})};
       }},
      {"topk",
       [one] {
         return std::vector<Sample>{cube_to_sort({std::int64_t{2}, one, true, true})};
       }},
  };
}

namespace {

std::vector<Sample> spread_samples() {
  const auto sample = [](std::vector<Value> arguments) {
    Sample result{randn({2, 3, 4}, {DType::float64, Device::cpu()})};
    result.insert(result.end(), arguments.begin(), arguments.end());
    return result;
  };
  return {sample({}), sample({Shape{1}, false}), sample({Shape{0, 2}, Value(), true, 0.0})};
}

}  // namespace

std::vector<OpSamples> samples_of_variance() {
  return {
      {"var", spread_samples},
      {"std", spread_samples},
      {"var_mean", spread_samples},
      {"std_mean", spread_samples},
  };
}

}  // namespace ohm::test
