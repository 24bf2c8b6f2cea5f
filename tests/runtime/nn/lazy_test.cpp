#include "runtime/nn/lazy.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "runtime/arithmetic/factories.h"
#include "tests/support/test_machine.h"

namespace ohm::test {
namespace {

class Lazy : public testing::Test {
 protected:
  static nn::ModulePtr lazy_linear() {
    for (const nn::ModuleDef& row : nn::lazy_modules()) {
      if (row.name != "LazyLinear") continue;
      return row.make(std::vector<nn::Value>{std::int64_t{4}, true, nn::Value(), nn::Value()});
    }
    return nullptr;
  }

  TestMachine machine_;
  nn::ModulePtr layer_ = lazy_linear();
};

TEST_F(Lazy, ParametersStayTheObjectsThatTheyWere) {
  layer_->move_to(Device::cuda(0), std::nullopt);
  const std::vector<Tensor> before = layer_->parameters();
  EXPECT_EQ(before[0].numel(), 0);
  layer_->forward(zeros({2, 3}, {DType::float32, Device::cuda(0)}));
  const std::vector<Tensor> after = layer_->parameters();
  ASSERT_EQ(after.size(), 2U);
  EXPECT_TRUE(after[0].is_same(before[0]));
  EXPECT_EQ(after[0].shape(), (Shape{4, 3}));
  EXPECT_EQ(after[1].shape(), (Shape{4}));
  EXPECT_TRUE(after[0].device().is_cuda());
}

TEST_F(Lazy, HasTheNameOfWhatItBecame) {
  EXPECT_EQ(layer_->type_name(), "LazyLinear");
  layer_->forward(zeros({2, 3}, {DType::float32, Device::cpu()}));
  EXPECT_EQ(layer_->type_name(), "Linear");
  EXPECT_THROW(layer_->forward(zeros({2, 5}, {DType::float32, Device::cpu()})),
               std::invalid_argument);
}

TEST_F(Lazy, AnInputWithoutFeaturesIsRefused) {
  EXPECT_THROW(layer_->forward(zeros({}, {DType::float32, Device::cpu()})), std::invalid_argument);
}

}  // namespace
}  // namespace ohm::test
