// Writes to views of tensors in the graph: gradients, nodes, what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "allocator_shim/observe/out_of_memory.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/checkpoint.h"
#include "runtime/autograd/engine.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/autograd/node.h"
#include "runtime/ops/activation/activation.h"
#include "runtime/ops/conversion/convert.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/pointwise/inplace_binary.h"
#include "runtime/ops/reduction/reduction.h"
#include "runtime/ops/shape/slice.h"
#include "runtime/ops/shape/view.h"
#include "tests/support/test_machine.h"

namespace ohm::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

using Values = std::vector<double>;

Tensor matrix(const Values& values) {
  return from_values(values, {2, static_cast<std::int64_t>(values.size()) / 2},
                     {DType::float64, Device::cpu()});
}

Tensor leaf(const Values& values) {
  const Tensor tensor = matrix(values);
  tensor.set_requires_grad(true);
  return tensor;
}

// The gradient of a sum with these weights tells all elements apart.
Tensor weighted_sum(const Tensor& tensor) {
  return ops::sum(ops::mul(tensor, matrix({1, 10, 100, 1000})));
}

Values gradient(const Tensor& result, const Tensor& input) {
  return to_doubles(gradients({result}, {}, {input}, {})[0]);
}

std::string grad_fn_of(const Tensor& tensor) { return std::string(tensor.grad_fn()->name()); }

class ViewHistory : public testing::Test {
 protected:
  TestMachine machine_{{.values = ValueMode::keeps_values}};
};

TEST_F(ViewHistory, AWriteToAViewChangesTheGradientOfItsPartAlone) {
  const Tensor x = leaf({1, 2, 3, 4});
  const Tensor w = leaf({5, 6});
  const Tensor y = ops::mul(x, 2.0);
  ops::mul_(ops::select(y, 0, 1), ops::view(w, {2}));
  EXPECT_EQ(to_doubles(y), (Values{2, 4, 30, 48}));
  backward(weighted_sum(y));
  EXPECT_EQ(to_doubles(x.grad()), (Values{2, 20, 1000, 12000}));
  EXPECT_EQ(to_doubles(w.grad()), (Values{600, 8000}));
}

TEST_F(ViewHistory, OneGradientAloneIsThatOfAll) {
  const Tensor x = leaf({1, 2, 3, 4});
  const Tensor w = leaf({5, 6});
  const auto result = [&] {
    const Tensor y = ops::mul(x, 2.0);
    ops::mul_(ops::select(y, 0, 1), ops::view(w, {2}));
    return weighted_sum(y);
  };
  EXPECT_EQ(gradient(result(), x), (Values{2, 20, 1000, 12000}));
  EXPECT_EQ(gradient(result(), w), (Values{600, 8000}));
}

TEST_F(ViewHistory, OfItsBaseIsThatOfItsOtherViews) {
  const Tensor x = leaf({1, 2, 3, 4});
  const Tensor y = ops::mul(x, 1.0);
  const Tensor turned = ops::t(y);
  const Tensor row = ops::select(y, 0, 0);
  ops::mul_(row, 3.0);
  EXPECT_EQ(grad_fn_of(y), "CopySlices");
  EXPECT_EQ(grad_fn_of(row), "AsStridedBackward");
  EXPECT_EQ(grad_fn_of(turned), "AsStridedBackward");
  EXPECT_EQ(gradient(weighted_sum(turned), x), (Values{3, 300, 10, 1000}));
}

TEST_F(ViewHistory, OfAnExpandedViewSumsWhatItRepeats) {
  const Tensor x = leaf({1, 2, 3, 4});
  const Tensor y = ops::mul(x, 1.0);
  const Tensor wide = ops::expand(ops::narrow(y, 0, 1, 1), {2, 2});
  ops::mul_(y, 3.0);
  EXPECT_EQ(gradient(weighted_sum(wide), x), (Values{0, 0, 303, 3030}));
}

TEST_F(ViewHistory, ATensorWithoutGraphGetsOneThroughItsView) {
  const Tensor x = leaf({1, 2, 3, 4});
  const Tensor target = zeros({2, 2}, options_of(x));
  const Tensor other = ops::t(target);
  ops::copy_(ops::select(target, 1, 0), ops::select(x, 0, 1));
  EXPECT_TRUE(other.requires_grad());
  EXPECT_EQ(gradient(weighted_sum(target), x), (Values{0, 0, 1, 100}));
}

TEST_F(ViewHistory, ViewsOfViewsAreOfOneBase) {
  const Tensor x = leaf({1, 2, 3, 4});
  const Tensor y = ops::mul(x, 2.0);
  const Tensor corner = ops::narrow(ops::t(ops::narrow(y, 0, 1, 1)), 0, 1, 1);
  ops::relu_(ops::mul_(corner, -1.0));
  EXPECT_EQ(to_doubles(y), (Values{2, 4, 6, 0}));
  EXPECT_EQ(gradient(weighted_sum(y), x), (Values{2, 20, 200, 0}));
}

TEST_F(ViewHistory, HasAGradientOfItsOwn) {
  const Tensor x = leaf({1, 2, 3, 4});
  const Tensor y = ops::mul(x, x);
  const Tensor row = ops::select(y, 0, 1);
  ops::add_(row, ops::select(y, 0, 0), 1.0);
  GradientRequest with_graph;
  with_graph.graph = GradientGraph::record;
  with_graph.retention = GraphRetention::retain;
  const Tensor first = gradients({weighted_sum(y)}, {}, {x}, with_graph)[0];
  EXPECT_EQ(to_doubles(first), (Values{202, 4040, 600, 8000}));
  EXPECT_EQ(gradient(ops::sum(first), x), (Values{202, 2020, 200, 2000}));
}

TEST_F(ViewHistory, IsReleasedWithTheGraph) {
  const Tensor x = leaf({1, 2, 3, 4});
  const Tensor y = ops::mul(x, 1.0);
  ops::add_(ops::select(y, 0, 1), 1.0, 1.0);
  const Tensor result = ops::sum(y);
  backward(result);
  EXPECT_THAT([&] { backward(ops::sum(y)); },
              ThrowsMessage<std::invalid_argument>(
                  AllOf(HasSubstr("[CopySlices]"), HasSubstr("a second time"))));
}

TEST_F(ViewHistory, AWriteThatFailsLeavesItAsItWas) {
  constexpr std::int64_t kMany = std::int64_t{1} << 22;
  TestMachine small({.capacity_bytes = std::size_t{48} << 20U});
  const TensorOptions options{DType::float32, Device::cuda(0)};
  const Tensor x = ones({1, kMany}, options);
  x.set_requires_grad(true);
  const Tensor y = ops::mul(x, 2.0);
  const Tensor row = ops::select(y, 0, 0);
  const std::uint32_t version = y.version();
  const Tensor rest = ones({kMany}, options);
  rest.set_requires_grad(true);
  // The copy of what is to be written over does not fit.
  EXPECT_THROW(ops::mul_(row, rest), OutOfMemory);
  EXPECT_EQ(grad_fn_of(y), "MulBackward");
  EXPECT_EQ(grad_fn_of(row), "SelectBackward");
  EXPECT_EQ(y.version(), version);
}

// ---- what is refused ----------------------------------------------------------------------------

void expect_refused(const Tensor& view, const char* why) {
  EXPECT_THAT([&] { ops::mul_(view, 2.0); }, ThrowsMessage<std::invalid_argument>(HasSubstr(why)));
}

TEST_F(ViewHistory, OfALeafIsNotWritten) {
  const Tensor x = leaf({1, 2, 3, 4});
  expect_refused(ops::t(x),
                 "[mul_] a view of a leaf Variable that requires grad is being used in an in-place "
                 "operation");
  const NoGradGuard no_grad;
  ops::mul_(ops::t(x), 2.0);
  EXPECT_EQ(to_doubles(x), (Values{2, 4, 6, 8}));
}

TEST_F(ViewHistory, OfARepeatedTensorIsFilledAndHasNoGradient) {
  const Tensor y = ops::mul(leaf({1, 2, 3, 4}), 1.0);
  ops::fill_(ops::expand(ops::select(y, 0, 0), {3, 2}), 5.0);
  EXPECT_EQ(to_doubles(y), (Values{5, 5, 3, 4}));
  EXPECT_THAT([&] { backward(ops::sum(y)); }, ThrowsMessage<std::invalid_argument>(
                                                  HasSubstr("refers to a single memory location")));
}

TEST_F(ViewHistory, OfOneOfSeveralViewsIsNotWritten) {
  const Tensor y = ops::mul(leaf({1, 2, 3, 4}), 1.0);
  expect_refused(ops::unbind(y, 0)[1],
                 "Output 1 of UnbindBackward is a view and is being modified inplace. This view is "
                 "the output of a function that returns multiple views.");
  const std::vector<Tensor> halves = ops::chunk(y, 2, 1);
  expect_refused(ops::t(halves[0]), "is a view and is being modified inplace");
  ops::mul_(y, 2.0);
  EXPECT_THAT([&] { ops::mul(halves[1], 1.0); },
              ThrowsMessage<std::invalid_argument>(
                  HasSubstr("Output 1 of SplitBackward is a view and its base or another view of "
                            "its base has been modified inplace.")));
}

TEST_F(ViewHistory, OfAModeIsNotWrittenOutsideOfIt) {
  const Tensor x = leaf({1, 2, 3, 4});
  const auto view_in_no_grad = [&] {
    const NoGradGuard no_grad;
    return ops::t(x);
  };
  const Tensor view = view_in_no_grad();
  EXPECT_TRUE(view.requires_grad());
  EXPECT_TRUE(view.is_leaf());
  expect_refused(view,
                 "A view was created in no_grad mode and is being modified inplace with grad "
                 "mode enabled. Given that this use case is ambiguous");
  EXPECT_THAT([&] { gradient(ops::sum(ops::mul(view, 2.0)), x); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("not have been used")));
  const std::vector<Tensor> ones_like_it = {ones({2, 2}, options_of(x))};
  EXPECT_THAT([&] { backward({view}, ones_like_it, GraphRetention::release); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("does not require grad")));
}

TEST_F(ViewHistory, OfWhatACheckpointReturnedIsNotWritten) {
  const Tensor y = ops::mul(leaf({1, 2, 3, 4}), 1.0);
  const auto turned = [](const std::vector<Tensor>& inputs) {
    return std::vector<Tensor>{ops::t(ops::mul(inputs[0], 2.0))};
  };
  const auto passed_on = [](const std::vector<Tensor>& inputs) { return inputs; };
  const CheckpointOptions options{.variant = Checkpointing::reentrant};
  const char* const why =
      "Output 0 of CheckpointFunctionBackward is a view and is being modified inplace. This view "
      "was created inside a custom Function";
  expect_refused(checkpoint(turned, {y}, options)[0], why);
  expect_refused(checkpoint(passed_on, {y}, options)[0], why);
}

}  // namespace
}  // namespace ohm::test
