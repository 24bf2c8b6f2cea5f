// Checkpointed functions: the gradients of the plain run, bit for bit, at other moments' cost.
#include "runtime/autograd/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/autocast_guard.h"
#include "runtime/autograd/engine.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/autograd/variable.h"
#include "runtime/ops/activation/activation.h"
#include "runtime/ops/matmul/linear.h"
#include "runtime/ops/matmul/matmul.h"
#include "runtime/ops/op_list.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/pointwise/inplace_binary.h"
#include "runtime/ops/pointwise/pointwise_unary.h"
#include "runtime/ops/random/dropout.h"
#include "runtime/ops/reduction/reduction.h"
#include "tests/support/op_samples.h"
#include "tests/support/test_machine.h"

namespace ohm::test {
namespace {

constexpr TensorOptions kOnGpu{DType::float32, Device::cuda(0)};

constexpr CheckpointOptions kReentrant{Checkpointing::reentrant};
constexpr CheckpointOptions kNonReentrant{Checkpointing::non_reentrant};

Tensor random_leaf(const Shape& shape) {
  Tensor tensor = randn(shape, kOnGpu);
  tensor.set_requires_grad(true);
  return tensor;
}

// A function of one tensor as checkpoint() takes it.
template <class F>
CheckpointedFunction unary(F function) {
  return [function](const std::vector<Tensor>& inputs) {
    return std::vector<Tensor>{function(inputs[0])};
  };
}

std::string name_of(const CheckpointOptions& options) {
  return options.variant == Checkpointing::reentrant ? "reentrant" : "non_reentrant";
}

class EachVariant : public testing::TestWithParam<CheckpointOptions> {};
INSTANTIATE_TEST_SUITE_P(Checkpoint, EachVariant, testing::Values(kReentrant, kNonReentrant),
                         [](const auto& param) { return name_of(param.param); });

// ---- values -------------------------------------------------------------------------------------

// Runs sum(function(x)) and its backward pass on a fresh machine and returns what the leaves got.
// `run` calls the function or checkpoints it.
template <class Run>
std::vector<std::vector<double>> gradients_of(Run run) {
  TestMachine machine({.values = ValueMode::keeps_values});
  const Tensor x = random_leaf({8, 16});
  const Tensor w = random_leaf({16, 16});
  const auto block = [w](const Tensor& input) {
    return ops::mul(ops::gelu(ops::mm(ops::dropout(input, 0.5, true), w), "none"), input);
  };
  backward(ops::sum(run(block, ops::relu(x))));
  return {to_doubles(x.grad()), to_doubles(w.grad())};
}

TEST_P(EachVariant, GivesTheGradientsOfThePlainRunBitForBit) {
  const auto plain = gradients_of([](auto block, const Tensor& x) { return block(block(x)); });
  EXPECT_EQ(gradients_of([&](auto block, const Tensor& x) {
              const auto once = unary(block);
              return checkpoint(once, checkpoint(once, {x}, GetParam()), GetParam())[0];
            }),
            plain);
}

TEST_P(EachVariant, GivesThemWhenCheckpointsAreNested) {
  const auto plain = gradients_of([](auto block, const Tensor& x) { return block(block(x)); });
  for (const CheckpointOptions& inner : {kReentrant, kNonReentrant}) {
    EXPECT_EQ(gradients_of([&](auto block, const Tensor& x) {
                const auto twice = unary([&inner, block](const Tensor& input) {
                  return block(checkpoint(unary(block), {input}, inner)[0]);
                });
                return checkpoint(twice, {x}, GetParam())[0];
              }),
              plain);
  }
}

// An op whose forward and backward run under a checkpoint, and one that is last in its segment.
class CheckpointedOp : public testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Checkpoint, CheckpointedOp, testing::ValuesIn(ops_with_samples()),
                         [](const auto& param) { return param.param; });

// The op with other tensors in place of the sample's.
std::vector<Tensor> call_with(const ops::OpDef& op, Sample sample,
                              const std::vector<Tensor>& tensors) {
  auto next = tensors.begin();
  for (ops::Value& value : sample) {
    if (auto* tensor = std::get_if<Tensor>(&value)) *tensor = *next++;
    if (auto* list = std::get_if<std::vector<Tensor>>(&value)) {
      for (Tensor& tensor : *list) tensor = *next++;
    }
  }
  return tensors_in(call_op(op, sample));
}

std::vector<Tensor> tensors_of(const Sample& sample) {
  std::vector<Tensor> tensors;
  for (const ops::Value& value : sample) {
    for (const Tensor& tensor : tensors_in(value)) tensors.push_back(tensor);
  }
  return tensors;
}

std::vector<std::vector<double>> op_gradients(const ops::OpDef& op,
                                              const CheckpointOptions* options) {
  TestMachine machine({.values = ValueMode::keeps_values});
  std::vector<std::vector<double>> gradients;
  for (const Sample& sample : samples_of(op)) {
    const Sample leaves = converted(sample, DType::float32, Device::cuda(0));
    require_gradients(op, leaves);
    const std::vector<Tensor> tensors = tensors_of(leaves);
    const auto call = [&](const std::vector<Tensor>& inputs) {
      return call_with(op, leaves, inputs);
    };
    const std::vector<Tensor> results =
        options == nullptr ? call(tensors) : checkpoint(call, tensors, *options);
    std::vector<Tensor> roots;
    std::vector<Tensor> grads;
    for (const Tensor& result : results) {
      if (!result.requires_grad()) continue;
      roots.push_back(result);
      grads.push_back(ones_like(result));
    }
    backward(roots, grads, GraphRetention::release);
    for (const Tensor& tensor : tensors) {
      if (tensor.grad().defined()) gradients.push_back(to_doubles(tensor.grad()));
    }
  }
  return gradients;
}

TEST_P(CheckpointedOp, HasTheSameGradients) {
  const ops::OpDef& op = *ops::find_op(GetParam());
  const auto plain = op_gradients(op, nullptr);
  EXPECT_FALSE(plain.empty());
  EXPECT_EQ(op_gradients(op, &kReentrant), plain);
  EXPECT_EQ(op_gradients(op, &kNonReentrant), plain);
}

// ---- the second run -----------------------------------------------------------------------------

TEST_P(EachVariant, RunsTheFunctionOnceMoreForEachBackwardPass) {
  TestMachine machine;
  int runs = 0;
  const Tensor x = random_leaf({4});
  const Tensor loss = ops::sum(checkpoint(unary([&](const Tensor& input) {
                                            ++runs;
                                            return ops::exp(ops::exp(input));
                                          }),
                                          {x}, GetParam())[0]);
  EXPECT_EQ(runs, 1);
  backward(loss, GraphRetention::retain);
  EXPECT_EQ(runs, 2);
  backward(loss);
  EXPECT_EQ(runs, 3);
  EXPECT_THROW(backward(loss), std::invalid_argument);
}

TEST_P(EachVariant, RunsTheFunctionOnceWhereNoGraphIsRecorded) {
  TestMachine machine;
  int runs = 0;
  const Tensor x = random_leaf({4});
  const NoGradGuard no_grad;
  const Tensor out = checkpoint(unary([&](const Tensor& input) {
                                  ++runs;
                                  return ops::exp(input);
                                }),
                                {x}, GetParam())[0];
  EXPECT_FALSE(out.requires_grad());
  EXPECT_EQ(runs, 1);
}

// The generators go on after backward as if the function had not run again.
TEST_P(EachVariant, DrawsTheSameNumbersAndPutsTheGeneratorsBack) {
  TestMachine machine({.values = ValueMode::keeps_values});
  std::vector<std::vector<double>> drawn;
  const Tensor x = random_leaf({64});
  const auto noisy = unary([&](const Tensor& input) {
    const Tensor noise = randn({64}, kOnGpu);
    drawn.push_back(to_doubles(noise));
    return ops::mul(input, noise);
  });
  const Tensor out = checkpoint(noisy, {x}, GetParam())[0];
  randn({100}, kOnGpu);
  const std::uint64_t before = machine.context().gpus[0].generator.offset;
  backward(ops::sum(out));
  ASSERT_EQ(drawn.size(), 2U);
  EXPECT_EQ(drawn[0], drawn[1]);
  EXPECT_EQ(to_doubles(x.grad()), drawn[0]);
  EXPECT_EQ(machine.context().gpus[0].generator.offset, before);
}

TEST_P(EachVariant, DrawsOtherNumbersWhenTheStateIsNotPreserved) {
  TestMachine machine({.values = ValueMode::keeps_values});
  std::vector<std::vector<double>> drawn;
  CheckpointOptions options = GetParam();
  options.preserves_random_state = false;
  const Tensor x = random_leaf({64});
  const auto noisy = unary([&](const Tensor& input) {
    const Tensor noise = randn({64}, kOnGpu);
    drawn.push_back(to_doubles(noise));
    return ops::mul(input, noise);
  });
  backward(ops::sum(checkpoint(noisy, {x}, options)[0]));
  ASSERT_EQ(drawn.size(), 2U);
  EXPECT_NE(drawn[0], drawn[1]);
}

TEST_P(EachVariant, RunsAgainUnderTheForwardPassesAutocast) {
  TestMachine machine;
  std::vector<DType> dtypes;
  const Tensor x = random_leaf({4, 4});
  const Tensor w = random_leaf({4, 4});
  Tensor out;
  {
    const AutocastGuard autocast(true, DType::bfloat16);
    out = checkpoint(unary([&](const Tensor& input) {
                       const Tensor product = ops::mm(input, w);
                       dtypes.push_back(product.dtype());
                       return ops::gelu(product, "none");
                     }),
                     {x}, GetParam())[0];
  }
  backward(ops::sum(out));
  EXPECT_THAT(dtypes, testing::ElementsAre(DType::bfloat16, DType::bfloat16));
  EXPECT_EQ(w.grad().dtype(), DType::float32);
}

// The last product is not needed: its operands are the last that backward asks for.
TEST(Checkpoint, StopsTheSecondRunWithTheLastSavedTensor) {
  for (const bool stops_early : {true, false}) {
    TestMachine machine;
    const EarlyStopGuard early_stop(stops_early);
    const Tensor x = random_leaf({4, 8});
    const Tensor w = random_leaf({8, 1024});
    int ends = 0;
    const Tensor out = checkpoint(unary([&](const Tensor& input) {
                                    Tensor product = ops::mm(ops::exp(input), w);
                                    ++ends;
                                    return product;
                                  }),
                                  {x}, kNonReentrant)[0];
    backward(ops::sum(out));
    EXPECT_EQ(ends, stops_early ? 1 : 2);
  }
}

// ---- what is alive ------------------------------------------------------------------------------

// Eight blocks of Linear and ReLU whose activations take A = 2 MiB each. The weights are small:
// what is in the large pool are activations and their gradients.
class EightBlocks : public testing::Test {
 protected:
  static constexpr std::int64_t kActivationBytes = 2 << 20;
  static constexpr std::size_t kBlocks = 8;

  EightBlocks() {
    for (std::size_t i = 0; i < kBlocks; ++i) weights_.push_back(random_leaf({8, 8}));
    x_ = random_leaf({1 << 16, 8});
    grad_ = ones_like(x_);
    base_bytes_ = large_bytes().current;
  }

  // The first `checkpointed` of `segments` segments under checkpoints, the others plainly. What is
  // expected are activations, after forward and at the peak of backward.
  void expect(std::size_t segments, std::size_t checkpointed, const CheckpointOptions& options,
              std::int64_t after_forward, std::int64_t peak) {
    SCOPED_TRACE(segments);
    std::vector<Tensor> value = {x_};
    const std::size_t length = kBlocks / segments;
    for (std::size_t i = 0; i < segments; ++i) {
      const CheckpointedFunction segment = blocks(i * length, (i + 1) * length);
      value = i < checkpointed ? checkpoint(segment, value, options) : segment(value);
    }
    EXPECT_EQ(large_bytes().current - base_bytes_, after_forward * kActivationBytes);
    machine_.gpu().reset_peak_stats();
    backward(value, {grad_}, GraphRetention::release);
    EXPECT_EQ(large_bytes().peak - base_bytes_, peak * kActivationBytes);
    value.clear();
    x_.set_grad(Tensor());
    ASSERT_EQ(large_bytes().current, base_bytes_);
  }

 private:
  CheckpointedFunction blocks(std::size_t from, std::size_t to) const {
    return unary([this, from, to](const Tensor& input) {
      Tensor value = input;
      for (std::size_t i = from; i < to; ++i) {
        value = ops::relu(ops::linear(value, weights_[i], std::nullopt));
      }
      return value;
    });
  }

  const Stat& large_bytes() {
    return machine_.gpu().stats().allocated_bytes[static_cast<std::size_t>(StatPool::large_pool)];
  }

  TestMachine machine_;
  std::vector<Tensor> weights_;
  Tensor x_;
  Tensor grad_;
  std::int64_t base_bytes_ = 0;
};

TEST_F(EightBlocks, KeepEveryActivationWithoutCheckpoints) { expect(1, 0, kReentrant, 8, 10); }

TEST_F(EightBlocks, KeepAnActivationForEachReentrantSegmentAndRecomputeOneSegment) {
  expect(1, 1, kReentrant, 1, 11);
  expect(2, 2, kReentrant, 2, 8);
  expect(4, 4, kReentrant, 4, 8);
  expect(8, 8, kReentrant, 8, 11);
}

TEST_F(EightBlocks, KeepTheLastSegmentWholeWhereItIsNotCheckpointed) {
  expect(2, 1, kReentrant, 5, 8);
  expect(4, 3, kReentrant, 5, 8);
  expect(8, 7, kReentrant, 8, 11);
}

// A reentrant checkpoint's own pass holds the output that it has recomputed.
TEST_F(EightBlocks, NeedOneActivationLessWithoutReentry) {
  expect(1, 1, kNonReentrant, 1, 10);
  expect(2, 2, kNonReentrant, 2, 7);
  expect(4, 4, kNonReentrant, 4, 7);
  expect(8, 8, kNonReentrant, 8, 10);
}

// ---- what is refused ----------------------------------------------------------------------------

template <class F>
std::string message_of(F action) {
  try {
    action();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

TEST(Checkpoint, NamesWhatTheSecondRunDidOtherwise) {
  TestMachine machine;
  const EarlyStopGuard no_early_stop(false);
  const Tensor x = random_leaf({4});
  const auto second_run = [&](int extra_ops) {
    int runs = 0;
    const auto changing = unary([&runs, extra_ops](const Tensor& input) {
      Tensor value = ops::exp(ops::exp(input));
      const int ops = ++runs == 1 ? 1 : 1 + extra_ops;
      for (int i = 0; i < ops; ++i) value = ops::exp(value);
      return value;
    });
    const Tensor out = checkpoint(changing, {x}, kNonReentrant)[0];
    return message_of([&] { backward(ops::sum(out)); });
  };
  EXPECT_EQ(second_run(0), "no error");
  EXPECT_EQ(second_run(1),
            "[checkpoint] the function saved 3 tensors, but when it ran again 4 or more: it must "
            "do the same both times");
  EXPECT_EQ(second_run(-1),
            "[checkpoint] the function saved 3 tensors, but when it ran again 2: it must do the "
            "same both times");
}

TEST(Checkpoint, NamesTheTensorThatHasAnotherShapeInTheSecondRun) {
  TestMachine machine;
  const Tensor x = random_leaf({4, 4});
  int runs = 0;
  const auto changing = unary([&runs](const Tensor& input) {
    return ops::sum(ops::exp(++runs == 1 ? input : ops::sum(input, Shape{0}, false, std::nullopt)));
  });
  CheckpointOptions options = kNonReentrant;
  const auto run = [&] {
    runs = 0;
    const Tensor out = checkpoint(changing, {x}, options)[0];
    return message_of([&] { backward(out); });
  };
  EXPECT_EQ(run(),
            "[checkpoint] the function saved other tensors when it ran again: tensor 0 was float32 "
            "[4, 4] on cuda:0, now it is float32 [4] on cuda:0");
  options.checks_determinism = false;
  EXPECT_THAT(run(), testing::Not(testing::HasSubstr("[checkpoint]")));
}

TEST(Checkpoint, RefusesAReentrantFunctionWithoutGradients) {
  TestMachine machine;
  const Tensor x = random_leaf({4});
  const auto constant = unary([](const Tensor& input) { return detach(input); });
  const Tensor out = checkpoint(constant, {x}, kReentrant)[0];
  EXPECT_EQ(message_of([&] { backward(ops::sum(out)); }),
            "[checkpoint] no output of the function requires a gradient: the checkpoint is not "
            "needed");
}

TEST(Checkpoint, NoticesThatAnInputWasOverwritten) {
  for (const CheckpointOptions& options : {kReentrant, kNonReentrant}) {
    TestMachine machine;
    const Tensor x = random_leaf({4});
    const Tensor input = ops::exp(x);
    const Tensor out =
        checkpoint(unary([](const Tensor& value) { return ops::exp(value); }), {input}, options)[0];
    ops::add_(input, 1.0);
    EXPECT_THAT(message_of([&] { backward(ops::sum(out)); }),
                testing::HasSubstr("modified by an inplace operation"));
  }
}

}  // namespace
}  // namespace ohm::test
