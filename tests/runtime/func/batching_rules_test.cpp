// vmap of every op that it knows, with the op's own sample inputs, is what the op makes of one
// sample after the other: results, and gradients inside of vmap. Arguments of an op without a rule
// are refused.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/func/batching_rules.h"
#include "runtime/func/gradient_call.h"
#include "runtime/func/vmap_call.h"
#include "runtime/ops/arithmetic.h"
#include "runtime/ops/concat.h"
#include "runtime/ops/reduction.h"
#include "runtime/ops/slice.h"
#include "tests/support/op_samples.h"
#include "tests/support/test_machine.h"

namespace ohm::test {
namespace {

constexpr std::int64_t kSamples = 3;

/// The arguments of one op, each of which is one for all samples or has its samples along a first
/// dimension.
struct Arguments {
  ops::Sample values;
  std::vector<bool> has_samples;

  ops::Sample of_sample(std::int64_t sample) const {
    ops::Sample one = values;
    for (std::size_t i = 0; i < one.size(); ++i) {
      if (has_samples[i]) one[i] = ops::select(std::get<Tensor>(values[i]), 0, sample);
    }
    return one;
  }
  ops::Sample of_all(const func::VmapCall& call) const {
    ops::Sample all = values;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (has_samples[i]) all[i] = call.sample(std::get<Tensor>(values[i]), 0);
    }
    return all;
  }
};

// Samples that differ a little, so that kinks stay where they are. Indices are turned.
Tensor samples_of(const Tensor& one) {
  std::vector<Tensor> samples;
  for (std::int64_t k = 0; k < kSamples; ++k) {
    samples.push_back(is_floating(one.dtype()) ? ops::mul(one, 1.0 + 0.03 * static_cast<double>(k))
                                               : copy_of(one));
  }
  return ops::stack(samples, 0);
}

// Every choice of arguments with samples; a tensor stands in at most three of them.
std::vector<Arguments> choices(const ops::Sample& sample) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < sample.size(); ++i) {
    if (std::holds_alternative<Tensor>(sample[i])) places.push_back(i);
  }
  std::vector<Arguments> all;
  for (std::uint32_t mask = 1; mask < (1U << places.size()); ++mask) {
    Arguments arguments{sample, std::vector<bool>(sample.size())};
    for (std::size_t bit = 0; bit < places.size(); ++bit) {
      if (((mask >> bit) & 1U) == 0) continue;
      ops::Value& value = arguments.values[places[bit]];
      value = samples_of(std::get<Tensor>(value));
      arguments.has_samples[places[bit]] = true;
    }
    all.push_back(std::move(arguments));
  }
  return all;
}

void expect_near(const Tensor& all, const std::vector<Tensor>& each, const std::string& what) {
  const Tensor expected = ops::stack(each, 0);
  ASSERT_EQ(all.shape(), expected.shape()) << what;
  const std::vector<double> found = to_doubles(all);
  const std::vector<double> wanted = to_doubles(expected);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    ASSERT_NEAR(found[i], wanted[i], 1e-9) << what << ", element " << i;
  }
}

Tensor result_of(const ops::OpDef& op, const ops::Sample& arguments) {
  return tensors_in(call_op(op, arguments)).front();
}

// The gradients of a sum of squares by all arguments that have some.
std::vector<Tensor> gradients_of(const ops::OpDef& op, ops::Sample arguments) {
  func::GradientCall call;
  for (const std::size_t position : differentiable(op, arguments)) {
    if (Tensor* tensor = std::get_if<Tensor>(&arguments[position])) {
      *tensor = call.differentiable(*tensor);
    }
  }
  const Tensor result = result_of(op, arguments);
  std::vector<Tensor> gradients = call.gradients(ops::sum(ops::mul(result, result)));
  for (Tensor& each : gradients) each = call.outside(each);
  return gradients;
}

// Computes, or says that there is no rule for such arguments; false then.
template <class F>
bool has_rule(F&& compute) {
  try {
    compute();
    return true;
  } catch (const std::invalid_argument& error) {
    const std::string message = error.what();
    const bool is_refusal = message.find("vmap has no batching rule") != std::string::npos ||
                            message.find("one for all samples") != std::string::npos;
    EXPECT_TRUE(is_refusal) << message;
    return false;
  }
}

// Whether there is a rule for these arguments.
bool expect_rule(const ops::OpDef& op, const Arguments& arguments, const std::string& what) {
  std::vector<Tensor> results;
  std::vector<std::vector<Tensor>> gradients;
  for (std::int64_t k = 0; k < kSamples; ++k) {
    results.push_back(result_of(op, arguments.of_sample(k)));
    const std::vector<Tensor> of_one = gradients_of(op, arguments.of_sample(k));
    gradients.resize(of_one.size());
    for (std::size_t i = 0; i < of_one.size(); ++i) gradients[i].push_back(of_one[i]);
  }
  const func::VmapCall call(kSamples);
  Tensor result;
  std::vector<Tensor> found;
  const bool is_known = has_rule([&] {
    result = call.all(result_of(op, arguments.of_all(call)), 0);
    found = gradients_of(op, arguments.of_all(call));
  });
  if (!is_known) return false;
  expect_near(result, results, what);
  for (std::size_t i = 0; i < found.size(); ++i) {
    expect_near(call.all(found[i], 0), gradients[i], what + ", gradient " + std::to_string(i));
  }
  return true;
}

class BatchingRules : public testing::TestWithParam<std::string_view> {};

TEST_P(BatchingRules, ComputeWhatTheOpMakesOfEachSample) {
  TestMachine machine({.values = ValueMode::keeps_values});
  const ops::OpDef* op = ops::find_op(GetParam());
  ASSERT_NE(op, nullptr) << GetParam() << " is no op";
  ASSERT_TRUE(op->samples) << GetParam() << " has no sample inputs";
  int number = 0;
  int known = 0;
  for (const ops::Sample& sample : op->samples()) {
    int choice = 0;
    for (const Arguments& arguments : choices(sample)) {
      known += expect_rule(*op, arguments,
                           fmt::format("{}, sample {}, choice {}", GetParam(), number, choice++));
    }
    ++number;
  }
  EXPECT_GT(known, 0) << GetParam() << " has no rule at all";
}

INSTANTIATE_TEST_SUITE_P(, BatchingRules,
                         testing::ValuesIn(func::batched_ops().begin(), func::batched_ops().end()),
                         [](const auto& info) { return std::string(info.param); });

TEST(Vmap, RefusesAnOpWithoutARuleByItsName) {
  EXPECT_THROW(func::require_batching_rule("cumsum"), std::invalid_argument);
}

}  // namespace
}  // namespace ohm::test
