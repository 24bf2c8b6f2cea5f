// Sample inputs of ops on each element.
#include <string>
#include <vector>

#include "runtime/arithmetic/factories.h"
#include "runtime/kernels/launch/elementwise.h"
#include "tests/support/op_samples/families.h"

namespace ohm::test {

using ops::Value;

namespace {

// Inputs on both sides of zero, none of them near it: relu has a kink there.
std::vector<Sample> away_from_zero() {
  const TensorOptions options{DType::float64, Device::cpu()};
  return {{from_values({-1.5, -0.4, 0.3, 0.9, 1.7, -2.2}, {2, 3}, options)}};
}

}  // namespace

std::vector<OpSamples> samples_of_activation() {
  return {
      {"relu", away_from_zero},
      {"sigmoid", away_from_zero},
      {"tanh", away_from_zero},
      {"gelu",
       [] {
         std::vector<Sample> samples = {away_from_zero()[0], away_from_zero()[0]};
         samples[1].emplace_back(std::string("tanh"));
         return samples;
       }},
      {"silu", away_from_zero},
      {"mish", away_from_zero},
      {"softplus", away_from_zero},
      {"logsigmoid", away_from_zero},
      {"glu",
       [] {
         return std::vector<Sample>{{randn({3, 4}, {DType::float64, Device::cpu()})}};
       }},
  };
}

namespace {

Tensor random_from(const Shape& shape, double low) {
  Tensor tensor = rand(shape, {DType::float64, Device::cpu()});
  map_floating(
      tensor, DType::float64, [low](double x) { return low + x; }, tensor);
  return tensor;
}

// Same shapes, broadcasting both ways, a number.
std::vector<Sample> operand_pairs() {
  return {{random_from({2, 3}, 0.5), random_from({2, 3}, 0.5)},
          {random_from({2, 3}, 0.5), random_from({3}, 0.5)},
          {random_from({2, 1}, 0.5), random_from({2, 3}, 0.5)},
          {random_from({2, 3}, 0.5), 1.5}};
}

std::vector<Sample> operand_pairs_with_alpha() {
  std::vector<Sample> samples = operand_pairs();
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i].emplace_back(i % 2 == 0 ? 1.0 : 2.5);
  return samples;
}

std::vector<Sample> reversed_pairs() {
  return {{random_from({2, 3}, 0.5), 2.0, 1.0},
          {random_from({2, 3}, 0.5), random_from({3}, 0.5), 1.0},
          {random_from({2, 3}, 0.5), random_from({2, 1}, 0.5), 2.5}};
}

// Away from the multiples of the divisor, where the remainder jumps.
std::vector<Sample> dividends_and_divisors() {
  const TensorOptions options{DType::float64, Device::cpu()};
  const Tensor dividends = from_values({-1.3, 0.8, -2.4, 2.3, 4.6, -1.1}, {2, 3}, options);
  return {{dividends, from_values({0.7, -1.5, 1.0}, {3}, options)}, {dividends, 1.5}};
}

std::vector<Sample> both_signs() {
  return {
      {from_values({-1.3, 0.8, -0.4, 2.1, 0.6, -1.1}, {2, 3}, {DType::float64, Device::cpu()})}};
}

}  // namespace

std::vector<OpSamples> samples_of_arithmetic() {
  return {
      {"add", operand_pairs_with_alpha},
      {"sub", operand_pairs_with_alpha},
      {"rsub", reversed_pairs},
      {"mul", operand_pairs},
      {"div", operand_pairs},
      {"remainder", dividends_and_divisors},
      {"neg", both_signs},
  };
}

namespace {

std::vector<Sample> distinct_pair() {
  return {{random_from({2, 3}, 0.0), random_from({2, 3}, 2.0)},
          {random_from({2, 3}, 2.0), random_from({3}, 0.0)}};
}

std::vector<Sample> condition_and_pair() {
  const Tensor condition = from_values({1, 0, 1, 1, 0, 0}, {2, 3}, {DType::boolean, Device::cpu()});
  return {{condition, random_from({2, 3}, 0.0), random_from({3}, 2.0)},
          {condition, random_from({2, 3}, 0.0), 2.5},
          {condition, -1.0, random_from({3}, 2.0)}};
}

}  // namespace

std::vector<OpSamples> samples_of_choice() {
  return {
      {"maximum", distinct_pair},
      {"minimum", distinct_pair},
      {"where", condition_and_pair},
  };
}

namespace {

std::vector<Sample> bounds() {
  const Sample both_signs{
      from_values({-1.3, 0.8, -0.4, 2.1, 0.6, -1.1}, {2, 3}, {DType::float64, Device::cpu()})};
  std::vector<Sample> samples(3, both_signs);
  samples[0].insert(samples[0].end(), {Value(-0.5), Value(0.7)});
  samples[1].insert(samples[1].end(), {Value(-0.5), Value()});
  samples[2].insert(samples[2].end(), {Value(), Value(0.7)});
  const TensorOptions options{DType::float64, Device::cpu()};
  const Tensor min = from_values({-0.5, 0.1, -0.2}, {3}, options);
  const Tensor max = from_values({0.7, -0.3}, {2, 1}, options);
  samples.push_back({both_signs[0], min, max});
  samples.push_back({both_signs[0], min, Value()});
  samples.push_back({both_signs[0], Value(), max});
  return samples;
}

}  // namespace

std::vector<OpSamples> samples_of_clamp() {
  return {
      {"clamp", bounds},
  };
}

namespace {

Tensor sample(double low) {
  Tensor tensor = rand({2, 3}, {DType::float64, Device::cpu()});
  map_floating(
      tensor, DType::float64, [low](double x) { return low + x; }, tensor);
  return tensor;
}

std::vector<Sample> three() { return {{sample(0.5), sample(0.5), sample(0.5), 1.5}}; }

}  // namespace

std::vector<OpSamples> samples_of_lerp() {
  return {
      {"lerp",
       [] {
         return std::vector<Sample>{{sample(0.5), sample(0.5), 0.3},
                                    {sample(0.5), sample(0.5), sample(0.0)}};
       }},
      {"addcmul", three},
      {"addcdiv", three},
      {"atan2",
       [] {
         return std::vector<Sample>{{sample(0.5), sample(-0.5)}};
       }},
  };
}

namespace {

Tensor pair_numbers(const std::vector<double>& values) {
  return from_values(values, {2, 3}, {DType::float64, Device::cpu()});
}

std::vector<Sample> pairs_of_both_signs() {
  const Tensor row = from_values({0.7, -1.5, 1.1}, {3}, {DType::float64, Device::cpu()});
  return {{pair_numbers({-1.3, 0.8, -2.4, 2.3, 4.6, -1.2}), row}};
}

std::vector<Sample> positive_powers() {
  return {{pair_numbers({0.3, 0.8, 1.4, 2.1, 0.6, 1.1}), 1.5},
          {pair_numbers({0.3, 0.8, 1.4, 2.1, 0.6, 1.1}),
           pair_numbers({0.5, -1.0, 2.0, 0.4, 1.2, 1.0})}};
}

}  // namespace

std::vector<OpSamples> samples_of_pair_functions() {
  return {
      {"logaddexp", pairs_of_both_signs}, {"logaddexp2", pairs_of_both_signs},
      {"hypot", pairs_of_both_signs},     {"fmod", pairs_of_both_signs},
      {"copysign", pairs_of_both_signs},  {"fmax", pairs_of_both_signs},
      {"fmin", pairs_of_both_signs},      {"float_power", positive_powers},
  };
}

namespace {

std::vector<Sample> both_sides() {
  return {
      {from_values({-1.5, -0.4, 0.3, 0.9, 1.7, -2.2}, {2, 3}, {DType::float64, Device::cpu()})}};
}

std::vector<Sample> both_sides_and(std::vector<Value> arguments) {
  std::vector<Sample> samples = both_sides();
  samples[0].insert(samples[0].end(), arguments.begin(), arguments.end());
  return samples;
}

}  // namespace

std::vector<OpSamples> samples_of_piecewise() {
  return {
      {"leaky_relu", [] { return both_sides_and({0.01}); }},
      {"elu", [] { return both_sides_and({1.3}); }},
      {"selu", both_sides},
      {"celu", [] { return both_sides_and({0.7}); }},
      {"hardtanh", both_sides},
      {"relu6", both_sides},
      {"hardsigmoid", both_sides},
      {"hardswish", both_sides},
      {"hardshrink", both_sides},
      {"softshrink", both_sides},
      {"threshold",
       [] {
         return both_sides_and({0.1, 2.0});
       }},
      {"prelu",
       [] {
         const TensorOptions options{DType::float64, Device::cpu()};
         std::vector<Sample> samples(2, both_sides()[0]);
         samples[0].emplace_back(from_values({0.25}, {1}, options));
         samples[1].emplace_back(from_values({0.25, 0.5, -0.1}, {3}, options));
         return samples;
       }},
  };
}

namespace {

std::vector<Sample> math_positive() {
  return {{from_values({0.3, 0.8, 1.4, 2.1, 0.6, 1.1}, {2, 3}, {DType::float64, Device::cpu()})}};
}

std::vector<Sample> math_both_signs() {
  return {
      {from_values({-1.3, 0.8, -0.4, 2.1, 0.6, -1.1}, {2, 3}, {DType::float64, Device::cpu()})}};
}

}  // namespace

std::vector<OpSamples> samples_of_pointwise_math() {
  return {
      {"reciprocal", math_positive},
      {"rsqrt", math_positive},
      {"sin", math_both_signs},
      {"cos", math_both_signs},
      {"tan", math_both_signs},
      {"erf", math_both_signs},
      {"log2", math_positive},
      {"log10", math_positive},
      {"log1p", math_positive},
      {"expm1", math_both_signs},
      {"floor", math_both_signs},
      {"ceil", math_both_signs},
      {"round", math_both_signs},
      {"sign", math_both_signs},
      {"xlogy",
       [] {
         return std::vector<Sample>{{math_positive()[0][0], math_positive()[0][0]}};
       }},
  };
}

namespace {

std::vector<Sample> unary_positive() {
  return {{from_values({0.3, 0.8, 1.4, 2.1, 0.6, 1.1}, {2, 3}, {DType::float64, Device::cpu()})}};
}

std::vector<Sample> unary_both_signs() {
  return {
      {from_values({-1.3, 0.8, -0.4, 2.1, 0.6, -1.1}, {2, 3}, {DType::float64, Device::cpu()})}};
}

}  // namespace

std::vector<OpSamples> samples_of_pointwise_unary() {
  return {
      {"exp", unary_both_signs}, {"log", unary_positive},        {"sqrt", unary_positive},
      {"abs", unary_both_signs}, {"positive", unary_both_signs}, {"nan_to_num", unary_both_signs},
  };
}

namespace {

std::vector<Sample> power_positive() {
  return {{from_values({0.3, 0.8, 1.4, 2.1, 0.6, 1.1}, {2, 3}, {DType::float64, Device::cpu()})}};
}

std::vector<Sample> power_both_signs() {
  return {
      {from_values({-1.3, 0.8, -0.4, 2.1, 0.6, -1.1}, {2, 3}, {DType::float64, Device::cpu()})}};
}

std::vector<Sample> powers() {
  std::vector<Sample> samples;
  for (const double exponent : {2.0, 3.0, 0.5, -1.5}) {
    samples.push_back(power_positive()[0]);
    samples.back().emplace_back(exponent);
  }
  samples.push_back({power_positive()[0][0], power_both_signs()[0][0]});
  return samples;
}

}  // namespace

std::vector<OpSamples> samples_of_power() {
  return {
      {"pow", powers},
      {"square", power_both_signs},
  };
}

namespace {

Tensor special_numbers(const std::vector<double>& values) {
  return from_values(values, {2, 3}, {DType::float64, Device::cpu()});
}

std::vector<Sample> between_signs() {
  return {{special_numbers({-0.7, 0.8, -0.4, 0.2, 0.6, -0.1})}};
}

std::vector<Sample> beyond_one() { return {{special_numbers({1.3, 1.8, 4.4, 2.1, 1.6, 3.1})}}; }

std::vector<Sample> between_zero_and_one() {
  return {{special_numbers({0.3, 0.8, 0.4, 0.2, 0.6, 0.1})}};
}

std::vector<Sample> logits() {
  std::vector<Sample> samples = between_zero_and_one();
  samples.push_back({between_zero_and_one()[0][0], 0.25});
  return samples;
}

}  // namespace

std::vector<OpSamples> samples_of_special() {
  return {
      {"asinh", between_signs},   {"acosh", beyond_one},     {"atanh", between_signs},
      {"erfc", between_signs},    {"erfinv", between_signs}, {"lgamma", beyond_one},
      {"digamma", beyond_one},    {"sinc", between_signs},   {"logit", logits},
      {"trunc", between_signs},   {"frac", between_signs},   {"deg2rad", between_signs},
      {"rad2deg", between_signs},
  };
}

namespace {

std::vector<Sample> within_one() {
  return {
      {from_values({-0.7, 0.8, -0.4, 0.2, 0.6, -0.1}, {2, 3}, {DType::float64, Device::cpu()})}};
}

}  // namespace

std::vector<OpSamples> samples_of_trigonometry() {
  return {
      {"sinh", within_one}, {"cosh", within_one}, {"asin", within_one},
      {"acos", within_one}, {"atan", within_one}, {"exp2", within_one},
  };
}

}  // namespace ohm::test
