#include "runtime/nn/running_module.h"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "runtime/arithmetic/factories.h"
#include "runtime/nn/sequential.h"
#include "tests/support/test_machine.h"

namespace ohm::nn {
namespace {

std::string path_now() { return running_module_path(Context::current().state.running_module); }

class RunningModuleTest : public ::testing::Test {
 protected:
  ModulePtr noting() {
    return std::make_shared<FunctionModule>("Noting", [this](const Tensor& input) {
      seen_.push_back(path_now());
      return input;
    });
  }

  test::TestMachine machine_;
  std::vector<std::string> seen_;
};

TEST_F(RunningModuleTest, APathIsOfTheNamesOfChildren) {
  const auto inner = std::make_shared<Sequential>(std::vector<ModulePtr>{noting(), noting()});
  const auto outer = std::make_shared<Sequential>(std::vector<ModulePtr>{noting(), inner});
  outer->call(zeros({2}, {}));
  EXPECT_EQ((std::vector<std::string>{"Sequential.0", "Sequential.1.0", "Sequential.1.1"}), seen_);
  EXPECT_EQ("", path_now());
}

TEST_F(RunningModuleTest, AModuleThatIsNoChildHasItsTypesName) {
  const ModulePtr stranger = noting();
  const auto outer = std::make_shared<FunctionModule>(
      "Calling", [&](const Tensor& input) { return stranger->call(input); });
  outer->call(zeros({2}, {}));
  EXPECT_EQ(std::vector<std::string>{"Calling.Noting"}, seen_);
}

TEST_F(RunningModuleTest, AnErrorLeavesNoModuleRunning) {
  const auto failing = std::make_shared<FunctionModule>(
      "Failing", [](const Tensor& /*input*/) -> Tensor { throw std::invalid_argument("no"); });
  const auto outer = std::make_shared<Sequential>(std::vector<ModulePtr>{failing});
  EXPECT_THROW(outer->call(zeros({2}, {})), std::invalid_argument);
  EXPECT_EQ("", path_now());
}

}  // namespace
}  // namespace ohm::nn
