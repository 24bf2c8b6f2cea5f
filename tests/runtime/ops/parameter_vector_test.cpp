#include "runtime/ops/parameter_vector.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "runtime/arithmetic/factories.h"
#include "runtime/ops/op_list.h"
#include "tests/support/test_machine.h"

namespace ohm::test {
namespace {

const TensorOptions kOnTheHost{DType::float32, Device::cpu()};

Tensor parameter(const std::vector<double>& values, const Shape& shape) {
  const Tensor made = from_values(values, shape, kOnTheHost);
  made.set_requires_grad(true);
  return made;
}

class ParameterVector : public testing::Test {
 protected:
  TestMachine machine_{{.values = ValueMode::keeps_values}};
};

TEST_F(ParameterVector, HasTheElementsOfAllParametersAndTheirGraph) {
  const std::vector<Tensor> parameters = {parameter({1, 2, 3, 4}, {2, 2}), parameter({5}, {1})};
  const Tensor vector = ops::parameters_to_vector(parameters);
  EXPECT_EQ(to_doubles(vector), (std::vector<double>{1, 2, 3, 4, 5}));
  EXPECT_TRUE(vector.requires_grad());
}

TEST_F(ParameterVector, ParametersShareItsMemoryFromThenOn) {
  const std::vector<Tensor> parameters = {parameter({0, 0, 0, 0}, {2, 2}), parameter({0}, {1})};
  const Tensor vector = from_values({1, 2, 3, 4, 5}, {5}, kOnTheHost);
  ops::vector_to_parameters(vector, parameters);
  fill_values(vector, 7);
  EXPECT_EQ(to_doubles(parameters[0]), (std::vector<double>{7, 7, 7, 7}));
  EXPECT_EQ(to_doubles(parameters[1]), (std::vector<double>{7}));
  EXPECT_TRUE(parameters[1].is_leaf() && parameters[1].requires_grad());
}

TEST_F(ParameterVector, AVectorThatIsTooShortIsRefused) {
  const std::vector<Tensor> parameters = {parameter({0, 0, 0, 0}, {2, 2}), parameter({0}, {1})};
  EXPECT_THROW(ops::vector_to_parameters(zeros({4}, kOnTheHost), parameters),
               std::invalid_argument);
}

ops::Value utility(std::string_view name, const std::vector<ops::Value>& arguments) {
  return ops::find_op(name)->call(arguments);
}

TEST_F(ParameterVector, TotalNormIsThatOfAllTensorsTogether) {
  const std::vector<Tensor> tensors = {parameter({3}, {1}), parameter({0, 4}, {2})};
  const auto norm = std::get<Tensor>(utility("get_total_norm", {tensors, 2.0, ops::Value()}));
  EXPECT_EQ(to_doubles(norm), std::vector<double>{5});
}

TEST_F(ParameterVector, GradientsAreLimitedByANormThatIsGiven) {
  const Tensor weight = parameter({1, 1}, {2});
  weight.set_grad(from_values({3, 4}, {2}, kOnTheHost));
  utility("clip_grads_with_norm_",
          {std::vector<Tensor>{weight}, 1.0, from_values({10}, {}, kOnTheHost)});
  const std::vector<double> limited = to_doubles(weight.grad());
  EXPECT_NEAR(limited[0], 0.3, 1e-6);
  EXPECT_NEAR(limited[1], 0.4, 1e-6);
}

}  // namespace
}  // namespace ohm::test
