#include "tests/truth/op_call.h"

#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/engine.h"
#include "runtime/ops/op_list.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/tensor/context.h"
#include "tests/support/op_samples.h"

namespace ohm::truth {

namespace {

constexpr std::uint64_t kSeed = 11;

/// Gradients of a result that differ from element to element.
Tensor root_gradient(const Tensor& result) {
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(result.numel()));
  for (int i = 0; i < result.numel(); ++i) values.push_back(std::sin(1.0 + 0.5 * i));
  return from_values(values, result.shape(), options_of(result));
}

/// Of the results, then of the leaves.
Values values_of(const std::vector<Tensor>& results, const std::vector<Tensor>& leaves) {
  Values values;
  std::vector<Tensor> roots;
  std::vector<Tensor> gradients;
  for (const Tensor& result : results) {
    if (!result.defined()) continue;
    values.push_back(to_doubles(result));
    if (!result.requires_grad()) continue;
    roots.push_back(result);
    gradients.push_back(root_gradient(result));
  }
  if (roots.empty()) return values;
  backward(roots, gradients, GraphRetention::release);
  for (const Tensor& leaf : leaves) {
    if (leaf.grad().defined()) values.push_back(to_doubles(leaf.grad()));
  }
  return values;
}

/// Of an op that returns nothing: the gradients that it changes in place.
Values changed_gradients(const ops::OpDef& op, const test::Sample& given,
                         const std::vector<Tensor>& leaves) {
  for (const Tensor& leaf : leaves) {
    leaf.set_requires_grad(true);
    const Tensor square = ops::mul(leaf, leaf);
    backward({square}, {root_gradient(square)}, GraphRetention::release);
  }
  test::call_op(op, given);
  Values values;
  for (const Tensor& leaf : leaves) values.push_back(to_doubles(leaf.grad()));
  return values;
}

/// Numbers that are told apart as whole ones.
test::Sample spread_out(const test::Sample& sample) {
  const auto spread = [](Tensor& tensor) {
    if (is_floating(tensor.dtype())) tensor = ops::mul(tensor, 8.0);
  };
  test::Sample result = sample;
  for (ops::Value& value : result) {
    if (Tensor* tensor = std::get_if<Tensor>(&value)) spread(*tensor);
    if (auto* list = std::get_if<std::vector<Tensor>>(&value)) {
      for (Tensor& tensor : *list) spread(tensor);
    }
  }
  return result;
}

/// Of whole numbers, which have no gradients.
Values computed_in_whole_numbers(const ops::OpDef& op, const test::Sample& sample, DType dtype,
                                 Device device) {
  const test::Sample given =
      test::converted(test::converted(spread_out(sample), dtype, Device::cpu()), dtype, device);
  const std::vector<Tensor> results = test::tensors_in(test::call_op(op, given));
  if (results.empty()) throw std::invalid_argument("it changes gradients");
  return values_of(results, {});
}

/// With gradients where the op says what to check them with.
OpCall call_of(const std::string& name, const ops::OpDef& op, const test::Sample& sample) {
  return {name, [&op, sample](DType rounded, DType dtype, Device device) {
            Context::current().seed(kSeed);
            if (!is_floating(dtype)) return computed_in_whole_numbers(op, sample, dtype, device);
            const test::Sample given =
                test::converted(test::converted(sample, rounded, Device::cpu()), dtype, device);
            if (test::has_samples(op)) test::require_gradients(op, given);
            std::vector<Tensor> leaves;
            for (const std::size_t position : test::differentiable(op, given)) {
              for (const Tensor& leaf : test::tensors_in(given[position])) leaves.push_back(leaf);
            }
            const std::vector<Tensor> results = test::tensors_in(test::call_op(op, given));
            return results.empty() ? changed_gradients(op, given, leaves)
                                   : values_of(results, leaves);
          }};
}

/// Numbers from -1 to 1, other ones for each seed.
Tensor numbers(const Shape& shape, std::uint64_t seed) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count *= size;
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    values.push_back(std::sin(static_cast<double>(i * 7 % 1009) + static_cast<double>(seed)));
  }
  return from_values(values, shape, {DType::float64, Device::cpu()});
}

/// Something for each parameter that has to be given; nullopt where there is nothing to guess.
std::optional<ops::Value> small_argument(const ops::Param& parameter, std::uint64_t seed) {
  switch (parameter.kind) {
    case ops::ParamKind::tensor:
    case ops::ParamKind::tensor_or_number:
      return numbers({3, 4}, seed);
    case ops::ParamKind::tensor_list:
      return std::vector<Tensor>{numbers({3, 4}, seed), numbers({3, 4}, seed + 1)};
    case ops::ParamKind::number:
      return 0.5;
    case ops::ParamKind::integer:
      return std::int64_t{1};
    case ops::ParamKind::boolean:
      return true;
    case ops::ParamKind::size_list:
      return Shape{3, 4};
    case ops::ParamKind::dtype:
      return DType::float32;
    case ops::ParamKind::sizes_or_word:
    case ops::ParamKind::number_list:
    case ops::ParamKind::string:
    case ops::ParamKind::device:
      break;
  }
  return std::nullopt;
}

/// Of ops without samples that do not take what is guessed of their parameters.
std::map<std::string, test::Sample> particular_samples() {
  const TensorOptions places{DType::int64, Device::cpu()};
  const TensorOptions truths{DType::boolean, Device::cpu()};
  const Tensor first = from_values({1, 0, 1, 0}, {4}, truths);
  const Tensor second = from_values({1, 1, 0, 0}, {4}, truths);
  const Tensor index = from_values({2, 0, 1, 2}, {1, 4}, places);
  const Tensor rows = from_values({2, 0}, {2}, places);
  const Tensor few = from_values({0, 1, 2, 3}, {4}, places);
  return {{"bitwise_not", {first}},
          {"bitwise_and", {first, second}},
          {"bitwise_or", {first, second}},
          {"bitwise_xor", {first, second}},
          // One number alone can be drawn.
          {"random_", {numbers({3, 4}, 0), std::int64_t{3}, std::int64_t{4}}},
          {"scatter_", {numbers({3, 4}, 0), std::int64_t{0}, index, numbers({1, 4}, 1)}},
          {"scatter_add_", {numbers({3, 4}, 0), std::int64_t{0}, index, numbers({1, 4}, 1)}},
          {"index_add_", {numbers({3, 4}, 0), std::int64_t{0}, rows, numbers({2, 4}, 1), 1.0}},
          {"index_fill_", {numbers({3, 4}, 0), std::int64_t{0}, rows, 0.5}},
          {"index_copy_", {numbers({3, 4}, 0), std::int64_t{0}, rows, numbers({2, 4}, 1)}},
          {"masked_scatter_", {numbers({3, 4}, 0), first, numbers({3, 4}, 1)}},
          {"index_put_", {numbers({3, 4}, 0), std::vector<Tensor>{rows}, numbers({2, 4}, 1)}},
          {"scatter_reduce_",
           {numbers({3, 4}, 0), std::int64_t{0}, index, numbers({1, 4}, 1), std::string("amax")}},
          {"index_reduce_",
           {numbers({3, 4}, 0), std::int64_t{0}, rows, numbers({2, 4}, 1), std::string("amax")}},
          {"addmm_", {numbers({3, 4}, 0), numbers({3, 2}, 1), numbers({2, 4}, 2)}},
          {"baddbmm_", {numbers({2, 3, 4}, 0), numbers({2, 3, 2}, 1), numbers({2, 2, 4}, 2)}},
          {"addbmm_", {numbers({3, 4}, 0), numbers({2, 3, 2}, 1), numbers({2, 2, 4}, 2)}},
          {"addmv_", {numbers({3}, 0), numbers({3, 4}, 1), numbers({4}, 2)}},
          {"addr_", {numbers({3, 4}, 0), numbers({3}, 1), numbers({4}, 2)}},
          {"bitwise_left_shift", {index, few}},
          {"bitwise_right_shift", {index, few}},
          {"gcd", {index, few}},
          {"lcm", {index, few}},
          {"bincount", {from_values({2, 0, 1, 2}, {4}, places)}},
          {"searchsorted", {from_values({0, 1, 2}, {3}, places), from_values({1, 3}, {2}, places)}},
          {"bucketize", {from_values({1, 3}, {2}, places), from_values({0, 1, 2}, {3}, places)}},
          {"isin", {from_values({1, 3, 0, 2}, {4}, places), from_values({0, 1}, {2}, places)}},
          {"bernoulli", {from_values({0, 1, 1, 0}, {4}, {DType::float64, Device::cpu()})}},
          // One place alone has a weight: rounding cannot choose another.
          {"multinomial",
           {from_values({0, 1, 0}, {3}, {DType::float64, Device::cpu()}), std::int64_t{1}, false}},
          {"vector_to_parameters",
           {numbers({8}, 0), std::vector<Tensor>{numbers({2, 3}, 1), numbers({2}, 2)}}}};
}

/// For an op without samples; empty: none.
test::Sample small_sample(const ops::OpDef& op) {
  const std::map<std::string, test::Sample> particular = particular_samples();
  if (const auto found = particular.find(std::string(op.info.name)); found != particular.end()) {
    return found->second;
  }
  if (op.info.name == "masked_fill_") {
    const Tensor mask = from_values({1, 0, 1, 0}, {4}, {DType::boolean, Device::cpu()});
    return {numbers({3, 4}, 0), mask, 0.5};
  }
  if (op.info.name == "clamp_") return {numbers({3, 4}, 0), -0.5, 0.25};
  if (op.info.name == "one_hot") {
    return {from_values({2, 0, 1}, {3}, {DType::int64, Device::cpu()}), std::int64_t{4}};
  }
  test::Sample sample;
  for (const ops::Param& parameter : op.params) {
    if (parameter.is_optional) break;
    const std::optional<ops::Value> argument = small_argument(parameter, sample.size());
    if (!argument) return {};
    sample.push_back(*argument);
  }
  return sample;
}

}  // namespace

OpCall call_of(const std::string& name, const std::vector<Shape>& shapes,
               const TensorFunction& function) {
  return {name, [shapes, function](DType rounded, DType dtype, Device device) {
            Context::current().seed(kSeed);
            std::vector<Tensor> leaves;
            for (std::size_t i = 0; i < shapes.size(); ++i) {
              const Tensor values = cast(numbers(shapes[i], i), rounded);
              leaves.push_back(transfer(cast(values, dtype), device));
              leaves.back().set_requires_grad(true);
            }
            return values_of({function(leaves)}, leaves);
          }};
}

std::vector<OpCall> sampled_calls() {
  std::vector<OpCall> calls;
  for (const ops::OpDef& op : ops::all_ops()) {
    const std::string name(op.info.name);
    const std::vector<test::Sample> samples =
        test::has_samples(op) ? test::samples_of(op) : std::vector<test::Sample>{small_sample(op)};
    std::size_t number = 0;
    for (const test::Sample& sample : samples) {
      calls.push_back(call_of(name + " " + std::to_string(++number), op, sample));
    }
  }
  return calls;
}

}  // namespace ohm::truth
