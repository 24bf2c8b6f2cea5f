// Encoders in evaluation compute in one call what their layers compute step by step.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/nn/transformer.h"
#include "runtime/ops/shape/slice.h"
#include "tests/support/test_machine.h"

namespace ohm::nn {
namespace {

constexpr std::int64_t kLength = 6;

struct Case {
  DType dtype;
  std::int64_t width;  ///< of two heads
  std::string activation = "relu";
};

ModulePtr encoder_of(const Case& each, const TransformerEncoderOptions& options = {}) {
  Context::current().seed(3);
  const TransformerLayerOptions layer{.width = each.width,
                                      .heads = 2,
                                      .hidden = 12,
                                      .activation = each.activation,
                                      .is_batch_first = true};
  const ParameterOptions parameters{Device::cuda(0), each.dtype};
  auto encoder = std::make_shared<TransformerEncoder>(TransformerEncoderLayer(layer, parameters), 2,
                                                      nullptr, options);
  encoder->set_training(false);
  return encoder;
}

// Sequences of these lengths, and the mask that says so.
struct Batch {
  Tensor src;
  Tensor padding;
  std::vector<std::int64_t> lengths;

  Batch(const Case& each, std::vector<std::int64_t> given) : lengths(std::move(given)) {
    const auto batch = static_cast<std::int64_t>(lengths.size());
    src = randn({batch, kLength, each.width}, {each.dtype, Device::cuda(0)});
    std::vector<double> left_out;
    for (const std::int64_t length : lengths) {
      for (std::int64_t i = 0; i < kLength; ++i) left_out.push_back(i < length ? 0.0 : 1.0);
    }
    padding = from_values(left_out, {batch, kLength}, {DType::boolean, Device::cuda(0)});
  }
};

Tensor encoded(Module& encoder, const std::vector<Value>& inputs) {
  return std::get<Tensor>(encoder.call(inputs));
}

void expect_near(const Tensor& actual, const Tensor& expected, double tolerance) {
  const std::vector<double> a = to_doubles(actual);
  const std::vector<double> b = to_doubles(expected);
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], tolerance) << i;
}

class EncoderInEvaluation : public testing::TestWithParam<Case> {
 protected:
  double tolerance() const { return item_bytes(GetParam().dtype) == 2 ? 0.05 : 1e-4; }

  test::TestMachine machine_{{.values = ValueMode::keeps_values}};
};

// float16 through flash, float32 through the memory-efficient kernel where heads are wide enough,
// the others step by step; bfloat16 loses its padding by a mask.
INSTANTIATE_TEST_SUITE_P(All, EncoderInEvaluation,
                         testing::Values(Case{DType::float32, 16}, Case{DType::float32, 6},
                                         Case{DType::float64, 8}, Case{DType::float16, 16},
                                         Case{DType::float16, 6}, Case{DType::bfloat16, 16},
                                         Case{DType::bfloat16, 6},
                                         Case{DType::float32, 16, "gelu"}));

TEST_P(EncoderInEvaluation, GivesEachSequenceWhatItGetsAlone) {
  const GradModeGuard no_graph(false);
  const ModulePtr encoder = encoder_of(GetParam());
  for (const std::vector<std::int64_t>& lengths :
       {std::vector<std::int64_t>{6, 3, 4}, {1, 5, 2}, {6, 6}}) {
    const Batch batch(GetParam(), lengths);
    const Tensor output = encoded(*encoder, {batch.src, Value(), batch.padding});
    ASSERT_EQ(output.shape().str(), batch.src.shape().str());
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      const auto row = static_cast<std::int64_t>(i);
      const auto part = [&](const Tensor& whole, std::int64_t first, std::int64_t count) {
        return ops::narrow(ops::narrow(whole, 0, row, 1), 1, first, count);
      };
      expect_near(part(output, 0, lengths[i]), encoded(*encoder, {part(batch.src, 0, lengths[i])}),
                  tolerance());
      for (const double value : to_doubles(part(output, lengths[i], kLength - lengths[i]))) {
        EXPECT_EQ(value, 0.0);
      }
    }
  }
}

TEST_P(EncoderInEvaluation, ComputesTheSameWithAGraph) {
  const ModulePtr encoder = encoder_of(GetParam(), {.enables_nested_tensors = false});
  const Batch batch(GetParam(), {6, 3, 4});
  const std::vector<Value> inputs{batch.src, Value(), batch.padding};
  const Tensor expected = encoded(*encoder, inputs);
  EXPECT_TRUE(expected.requires_grad());
  const GradModeGuard no_graph(false);
  expect_near(encoded(*encoder, inputs), expected,
              GetParam().activation == "gelu" ? 2e-3 : tolerance());
}

TEST(EncoderOfPaddedSequences, NeedsTheLengthsWhereItDoesNotCheckTheMask) {
  const test::TestMachine machine;
  const GradModeGuard no_graph(false);
  const Case each{DType::float32, 16};
  const ModulePtr encoder = encoder_of(each, {.checks_mask = false});
  const Tensor src = empty({2, kLength, each.width}, {each.dtype, Device::cuda(0)});
  const Tensor padding = empty({2, kLength}, {DType::boolean, Device::cuda(0)});
  EXPECT_THROW(encoded(*encoder, {src, Value(), padding}), std::invalid_argument);
}

TEST(EncoderOfPaddedSequences, LeavesAMaskWithGapsInPlace) {
  const test::TestMachine machine({.values = ValueMode::keeps_values});
  const GradModeGuard no_graph(false);
  const Case each{DType::float32, 16};
  const Tensor src = randn({1, 3, each.width}, {each.dtype, Device::cuda(0)});
  const Tensor padding = from_values({0.0, 1.0, 0.0}, {1, 3}, {DType::boolean, Device::cuda(0)});
  const Tensor output = encoded(*encoder_of(each), {src, Value(), padding});
  expect_near(
      output,
      encoded(*encoder_of(each, {.enables_nested_tensors = false}), {src, Value(), padding}), 1e-6);
}

}  // namespace
}  // namespace ohm::nn
