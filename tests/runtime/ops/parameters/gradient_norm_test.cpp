// The two halves of clip_grad_norm_(), and what it says of norms that are not numbers.
#include "runtime/ops/parameters/clip_grad.h"

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>
#include <vector>

#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/variable.h"
#include "tests/support/test_machine.h"

namespace ohm::test {
namespace {

class GradientNorm : public testing::Test {
 protected:
  std::vector<Tensor> with_gradients(double value) const {
    std::vector<Tensor> parameters = {zeros({3}, {}), zeros({6}, {})};
    for (const Tensor& parameter : parameters) {
      parameter.set_grad(full(parameter.shape(), value, options_of(parameter)));
    }
    parameters.push_back(zeros({2}, {}));
    return parameters;
  }

  TestMachine machine_{{.values = ValueMode::keeps_values}};
};

TEST_F(GradientNorm, ItsHalvesDoWhatTheWholeDoes) {
  const std::vector<Tensor> parameters = with_gradients(1.0);
  const std::vector<Tensor> gradients = {parameters[0].grad(), parameters[1].grad()};
  const Tensor total = ops::get_total_norm(gradients, 2.0, false, std::nullopt);
  EXPECT_NEAR(total.item(), 3.0, 1e-6);
  ops::clip_grads_with_norm_(parameters, 1.5, total);
  EXPECT_NEAR(to_doubles(parameters[0].grad())[0], 0.5, 1e-6);
  EXPECT_FALSE(parameters[2].grad().defined());
}

TEST_F(GradientNorm, ClippingNeverMakesGradientsLarger) {
  const std::vector<Tensor> parameters = with_gradients(0.1);
  ops::clip_grads_with_norm_(parameters, 100.0, full({}, 0.3, {}));
  EXPECT_NEAR(to_doubles(parameters[1].grad())[0], 0.1, 1e-7);
}

TEST_F(GradientNorm, RefusesWhatIsNoNumberWhereThatIsAskedFor) {
  const double infinite = std::numeric_limits<double>::infinity();
  EXPECT_THROW(ops::clip_grad_norm_(with_gradients(infinite), 1.0, 2.0, true, std::nullopt),
               std::runtime_error);
  EXPECT_NO_THROW(ops::clip_grad_norm_(with_gradients(infinite), 1.0, 2.0, false, std::nullopt));
  EXPECT_NO_THROW(ops::clip_grad_norm_(with_gradients(1.0), 1.0, 2.0, true, std::nullopt));
}

TEST_F(GradientNorm, NothingHasNoNorm) {
  EXPECT_EQ(ops::get_total_norm({}, 2.0, true, std::nullopt).item(), 0.0);
}

}  // namespace
}  // namespace ohm::test
