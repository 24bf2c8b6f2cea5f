// Parameters in one vector, and back.
#include "runtime/ops/parameters/parameter_vector.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "runtime/arithmetic/factories.h"
#include "tests/support/test_machine.h"

namespace ohm::test {
namespace {

class ParameterVector : public testing::Test {
 protected:
  TestMachine machine_{{.values = ValueMode::keeps_values}};
};

TEST_F(ParameterVector, ParametersLookAtTheirPieces) {
  const std::vector<Tensor> parameters = {zeros({2, 2}, {}), zeros({3}, {})};
  const Tensor vec = arange(0.0, 1.0, 7, {});
  ops::vector_to_parameters(vec, parameters);
  EXPECT_EQ(to_doubles(parameters[0]), (std::vector<double>{0, 1, 2, 3}));
  EXPECT_EQ(to_doubles(parameters[1]), (std::vector<double>{4, 5, 6}));
  EXPECT_EQ(parameters[0].shape(), (Shape{2, 2}));
  EXPECT_EQ(&parameters[1].storage(), &vec.storage());
  EXPECT_EQ(to_doubles(ops::parameters_to_vector(parameters)), to_doubles(vec));
}

TEST_F(ParameterVector, RefusesAVectorThatIsTooShortOrOfAnotherDtype) {
  const std::vector<Tensor> parameters = {zeros({2, 2}, {}), zeros({3}, {})};
  EXPECT_THROW(ops::vector_to_parameters(zeros({6}, {}), parameters), std::invalid_argument);
  const TensorOptions doubles{DType::float64, Device::cpu()};
  EXPECT_THROW(ops::vector_to_parameters(zeros({7}, doubles), parameters), std::invalid_argument);
}

}  // namespace
}  // namespace ohm::test
