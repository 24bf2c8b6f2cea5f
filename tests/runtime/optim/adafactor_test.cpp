#include "runtime/optim/adafactor.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "runtime/arithmetic/factories.h"
#include "tests/support/test_machine.h"

namespace ohm::test {
namespace {

const TensorOptions kOnHost64{DType::float64, Device::cpu()};

// As PyTorch 2.6.0 on the CPU has them.
TEST(Adafactor, FactorsTheSecondMomentsOfAMatrix) {
  const TestMachine machine({.values = ValueMode::keeps_values});
  const Tensor matrix = from_values({1, -2, 3, 0.5, 0.25, -1}, {2, 3}, kOnHost64);
  matrix.set_requires_grad(true);
  optim::Adafactor optimizer({matrix}, {.lr = 0.1, .weight_decay = 0.1});
  for (const double factor : {1.0, -2.0}) {
    matrix.set_grad(from_values({0.5 * factor, 1, -1, 2, 0.25, factor}, {2, 3}, kOnHost64));
    optimizer.step();
  }
  const std::vector<double> expected = {1.0453561312556099,  -2.4864717183577083,
                                        3.271142477248786,   0.15755623827140852,
                                        0.15989522853687962, -0.9222129010639193};
  const std::vector<double> found = to_doubles(matrix);
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-12);
  const std::vector<Tensor>& state = optimizer.find_state(matrix)->tensors;
  EXPECT_EQ(state[1].shape(), (Shape{2, 1}));
  EXPECT_EQ(state[2].shape(), (Shape{1, 3}));
  EXPECT_FALSE(state[3].defined());
}

TEST(Adafactor, RefusesOptionsThatCannotBe) {
  const TestMachine machine;
  const Tensor parameter = zeros({2}, kOnHost64);
  parameter.set_requires_grad(true);
  using optim::Adafactor;
  EXPECT_THROW(Adafactor({parameter}, {.beta2_decay = 0.5}), std::invalid_argument);
  EXPECT_THROW(Adafactor({parameter}, {.d = 0.5}), std::invalid_argument);
  EXPECT_THROW(Adafactor({parameter}, {.weight_decay = -1.0}), std::invalid_argument);
}

}  // namespace
}  // namespace ohm::test
