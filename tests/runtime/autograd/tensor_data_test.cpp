// The elements of a tensor apart from its place in the graph: what is written through them, and
// tensors that get others.
#include "runtime/autograd/tensor_data.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/engine.h"
#include "runtime/autograd/node.h"
#include "runtime/autograd/variable.h"
#include "runtime/ops/pointwise/inplace_binary.h"
#include "runtime/ops/pointwise/pointwise_unary.h"
#include "runtime/ops/pointwise/power.h"
#include "runtime/ops/reduction/reduction.h"
#include "runtime/ops/shape/slice.h"
#include "tests/support/test_machine.h"

namespace ohm::test {
namespace {

class TensorData : public testing::Test {
 protected:
  Tensor leaf() const {
    const Tensor tensor = zeros({2, 2}, {DType::float64, Device::cpu()});
    tensor.set_requires_grad(true);
    return tensor;
  }

  TestMachine machine_{{.values = ValueMode::keeps_values}};
};

std::vector<double> gradient_of_sum(const Tensor& result, const Tensor& input) {
  return to_doubles(gradients({ops::sum(result)}, {}, {input}, {})[0]);
}

TEST_F(TensorData, SavedTensorsDoNotNoticeWhatIsWrittenThere) {
  const Tensor x = leaf();
  const Tensor y = ops::exp(x);
  ops::add_(ops::select(data_of(y), 0, 0), 4.0);  // a view has the count of what it is a view of
  EXPECT_EQ(gradient_of_sum(y, x), (std::vector<double>{5, 5, 1, 1}));
}

TEST_F(TensorData, SavedTensorsNoticeWhatIsWrittenToADetachedTensor) {
  const Tensor x = leaf();
  const Tensor y = ops::exp(x);
  ops::add_(detach(y), 4.0);
  EXPECT_THROW(gradient_of_sum(y, x), std::invalid_argument);
}

TEST_F(TensorData, AViewThatIsWrittenToKeepsItsNode) {
  const Tensor row = ops::select(ops::exp(leaf()), 0, 0);
  ops::add_(data_of(row), 4.0);
  EXPECT_EQ(row.grad_fn()->name(), std::string("SelectBackward"));
  ops::add_(detach(row), 4.0);
  EXPECT_EQ(row.grad_fn()->name(), std::string("AsStridedBackward"));
}

TEST_F(TensorData, TheStorageKnowsOfEveryWrite) {
  const Tensor x = zeros({2}, {DType::float64, Device::cpu()});
  ops::add_(data_of(x), 1.0);
  ops::add_(x, 1.0);
  EXPECT_EQ(x.version(), 1U);
  EXPECT_EQ(x.storage().writes(), 2U);
}

TEST_F(TensorData, OtherElementsAreNoWrite) {
  const Tensor x = leaf();
  const Tensor y = ops::square(x);
  const Tensor other = full({2, 2}, 3.0, {DType::float64, Device::cpu()});
  ops::add_(other, 1.0);
  set_data(x, other);
  EXPECT_EQ(gradient_of_sum(y, x), (std::vector<double>{8, 8, 8, 8}));
  ops::add_(detach(x), 1.0);
  EXPECT_EQ(x.version(), 1U);
}

}  // namespace
}  // namespace ohm::test
