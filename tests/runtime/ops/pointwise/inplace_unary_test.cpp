#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/engine.h"
#include "runtime/ops/op_list.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/reduction/reduction.h"
#include "tests/support/op_samples.h"
#include "tests/support/test_machine.h"

namespace ohm::test {
namespace {

// Those that have a plain form of one tensor with samples.
std::vector<std::string> inplace_ops() {
  std::vector<std::string> names;
  for (const ops::OpDef& op : ops::all_ops()) {
    const std::string name(op.info.name);
    if (name.back() != '_' || op.params.size() != 1) continue;
    const ops::OpDef* const plain = ops::find_op(name.substr(0, name.size() - 1));
    if (plain != nullptr && plain->params.size() == 1 && has_samples(*plain)) names.push_back(name);
  }
  return names;
}

struct Computed {
  std::vector<double> values;
  std::vector<double> gradient;
};

// Of the op on something that x is multiplied to, so that it is not a leaf.
Computed compute(const std::string& name, const std::vector<double>& values) {
  const Tensor x = from_values(values, {static_cast<std::int64_t>(values.size())},
                               {DType::float64, Device::cpu()});
  x.set_requires_grad(true);
  const std::vector<ops::Value> arguments{ops::mul(x, 1.0)};
  const Tensor y = std::get<Tensor>(ops::find_op(name)->call(arguments));
  backward(ops::sum(ops::mul(y, x), std::nullopt, false, std::nullopt));
  return {to_doubles(y), to_doubles(x.grad())};
}

class InplaceOp : public testing::TestWithParam<std::string> {};

TEST_P(InplaceOp, ComputesWhatThePlainOneDoes) {
  const TestMachine machine({.values = ValueMode::keeps_values});
  const std::string plain = GetParam().substr(0, GetParam().size() - 1);
  for (const Sample& sample : samples_of(*ops::find_op(plain))) {
    const std::vector<double> values = to_doubles(std::get<Tensor>(sample[0]));
    const Computed expected = compute(plain, values);
    const Computed found = compute(GetParam(), values);
    EXPECT_EQ(found.values, expected.values);
    EXPECT_EQ(found.gradient, expected.gradient);
  }
}

INSTANTIATE_TEST_SUITE_P(AllOps, InplaceOp, testing::ValuesIn(inplace_ops()),
                         [](const auto& instance) { return instance.param; });

TEST(InplaceOps, ThatHaveAPlainFormAreFound) { EXPECT_GE(inplace_ops().size(), 20U); }

}  // namespace
}  // namespace ohm::test
