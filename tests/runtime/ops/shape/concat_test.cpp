// What cat does with tensors of shape [0], which join anything.
#include <gtest/gtest.h>

#include <vector>

#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/engine.h"
#include "runtime/ops/reduction/reduction.h"
#include "runtime/ops/shape/concat.h"
#include "runtime/ops/shape/view.h"
#include "tests/support/test_machine.h"

namespace ohm::test {
namespace {

class Cat : public testing::Test {
 protected:
  static Tensor on_gpu(const std::vector<double>& values, const Shape& shape,
                       DType dtype = DType::float32) {
    return from_values(values, shape, {dtype, Device::cuda(0)});
  }

 private:
  TestMachine machine_{{.values = ValueMode::keeps_values}};
};

TEST_F(Cat, TakesNothingFromTensorsWithoutElements) {
  const Tensor nothing = on_gpu({}, {0});
  const Tensor matrix = on_gpu({1, 2, 3, 4}, {2, 2});
  const Tensor joined = ops::cat({nothing, matrix, nothing, matrix}, -1);
  EXPECT_EQ(joined.shape(), (Shape{2, 4}));
  EXPECT_EQ(to_doubles(joined), (std::vector<double>{1, 2, 1, 2, 3, 4, 3, 4}));
  EXPECT_EQ(ops::cat({nothing, nothing}, 0).shape(), Shape{0});
}

TEST_F(Cat, PromotesToTheirDtypeAllTheSame) {
  const Tensor joined = ops::cat({on_gpu({}, {0}, DType::float64), on_gpu({1}, {1, 1})}, 1);
  EXPECT_EQ(joined.dtype(), DType::float64);
}

TEST_F(Cat, GivesThemAGradientWithoutElements) {
  const Tensor nothing = on_gpu({}, {0});
  const Tensor row = on_gpu({1, 2}, {1, 2});
  nothing.set_requires_grad(true);
  row.set_requires_grad(true);
  backward(ops::sum(ops::cat({nothing, row}, 0)));
  EXPECT_EQ(nothing.grad().shape(), Shape{0});
  EXPECT_EQ(to_doubles(row.grad()), (std::vector<double>{1, 1}));
}

}  // namespace
}  // namespace ohm::test
