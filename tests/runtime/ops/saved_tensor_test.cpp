// What every op does when what it saved was overwritten, or given back by an earlier backward: it
// says so with the op and the line, or its gradients are right all the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/engine.h"
#include "runtime/ops/op_list.h"
#include "runtime/ops/pointwise/inplace_binary.h"
#include "runtime/tensor/context.h"
#include "tests/support/op_samples.h"
#include "tests/support/test_machine.h"

namespace ohm::test {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;

constexpr std::string_view kFile = "net.lua";
constexpr int kLine = 12;

/// One forward pass of an op in a script's line, its floating arguments leaves.
class ForwardPass {
 public:
  ForwardPass(const ops::OpDef& op, const Sample& sample)
      : op_(op), arguments_(converted(sample, DType::float64, Device::cuda(0))) {
    require_gradients(op, arguments_);
    Context& context = Context::current();
    context.seed(3);
    context.state.file = kFile;
    context.state.line = kLine;
    results_ = tensors_in(call_op(op, arguments_));
    context.state.line = kLine + 1;
  }

  /// Everything whose memory a program could write to before backward.
  std::vector<Tensor> tensors() const {
    std::vector<Tensor> all = results_;
    for (const ops::Value& argument : arguments_) {
      for (const Tensor& tensor : tensors_in(argument)) all.push_back(tensor);
    }
    return all;
  }

  void run_backward(GraphRetention retention) const {
    std::vector<Tensor> roots;
    std::vector<Tensor> grads;
    for (const Tensor& result : results_) {
      if (!result.requires_grad()) continue;
      roots.push_back(result);
      grads.push_back(full(result.shape(), 0.75, options_of(result)));
    }
    backward(roots, grads, retention);
  }

  std::vector<double> gradients() const {
    std::vector<double> all;
    for (const std::size_t position : differentiable(op_, arguments_)) {
      for (const Tensor& leaf : tensors_in(arguments_[position])) {
        const std::vector<double> values = to_doubles(leaf.grad());
        all.insert(all.end(), values.begin(), values.end());
      }
    }
    return all;
  }

 private:
  const ops::OpDef& op_;
  Sample arguments_;
  std::vector<Tensor> results_;
};

std::vector<double> expected_gradients(const ops::OpDef& op, const Sample& sample) {
  const ForwardPass pass(op, sample);
  pass.run_backward(GraphRetention::release);
  return pass.gradients();
}

void overwrite(const Tensor& tensor) {
  const Tensor alias = detached_alias(tensor);
  ops::fill_(alias, 1.0);
}

std::string place() { return std::string(kFile) + ":" + std::to_string(kLine); }

std::vector<double> times(std::vector<double> values, double factor) {
  for (double& value : values) value *= factor;
  return values;
}

std::vector<std::string> differentiable_ops() {
  std::vector<std::string> names;
  for (const ops::OpDef& op : ops::all_ops()) {
    if (has_samples(op) && op.info.name.back() != '_') names.emplace_back(op.info.name);
  }
  return names;
}

class SavedByOp : public testing::TestWithParam<std::string> {
 protected:
  const ops::OpDef& op_ = *ops::find_op(GetParam());

 private:
  TestMachine machine_{{.values = ValueMode::keeps_values}};
};

TEST_P(SavedByOp, IsRefusedWhenItWasOverwritten) {
  for (const Sample& sample : samples_of(op_)) {
    const std::vector<double> expected = expected_gradients(op_, sample);
    const std::size_t count = ForwardPass(op_, sample).tensors().size();
    for (std::size_t i = 0; i < count; ++i) {
      const ForwardPass pass(op_, sample);
      overwrite(pass.tensors()[i]);
      try {
        pass.run_backward(GraphRetention::release);
        EXPECT_EQ(pass.gradients(), expected) << "tensor " << i;
      } catch (const std::invalid_argument& error) {
        // One of several views has a node that a write to its base makes void.
        EXPECT_THAT(error.what(),
                    AnyOf(AllOf(HasSubstr("modified by an inplace operation"), HasSubstr(place())),
                          HasSubstr("another view of its base has been modified")));
      }
    }
  }
}

TEST_P(SavedByOp, IsGoneAfterBackward) {
  for (const Sample& sample : samples_of(op_)) {
    const ForwardPass pass(op_, sample);
    pass.run_backward(GraphRetention::release);
    const std::vector<double> once = pass.gradients();
    try {
      pass.run_backward(GraphRetention::release);
      EXPECT_EQ(pass.gradients(), times(once, 2));
    } catch (const std::invalid_argument& error) {
      EXPECT_THAT(error.what(), HasSubstr("backward through the graph a second time"));
      EXPECT_THAT(error.what(), HasSubstr(place()));
      EXPECT_EQ(pass.gradients(), once);
    }
  }
}

TEST_P(SavedByOp, StaysWhereTheGraphIsRetained) {
  for (const Sample& sample : samples_of(op_)) {
    const ForwardPass pass(op_, sample);
    pass.run_backward(GraphRetention::retain);
    const std::vector<double> once = pass.gradients();
    pass.run_backward(GraphRetention::release);
    EXPECT_EQ(pass.gradients(), times(once, 2));
  }
}

INSTANTIATE_TEST_SUITE_P(AllOps, SavedByOp, testing::ValuesIn(differentiable_ops()),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace ohm::test
