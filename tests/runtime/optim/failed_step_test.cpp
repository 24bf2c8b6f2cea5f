// Steps that fail: what an optimizer has behind them.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

#include "allocator_shim/observe/out_of_memory.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/optim/sgd.h"
#include "tests/support/test_machine.h"

namespace ohm::optim {
namespace {

constexpr TensorOptions kOnGpu{DType::float32, Device::cuda(0)};

Tensor parameter_with_gradient(std::int64_t count) {
  const Tensor parameter = zeros({count}, kOnGpu);
  parameter.set_requires_grad(true);
  parameter.set_grad(ones_like(parameter));
  return parameter;
}

// Golden: PyTorch gives parameters their first momentum when all of them have moved.
TEST(FailedStep, OfSgdMakesNoMomentum) {
  for (const Form form : {Form::for_loop, Form::foreach_list, Form::fused}) {
    test::TestMachine machine({.capacity_bytes = std::size_t{48} << 20U});
    const Tensor small = parameter_with_gradient(std::int64_t{1} << 20);
    const Tensor large = parameter_with_gradient(std::int64_t{2'400'000});
    Sgd optimizer({small, large}, {.lr = 0.1, .momentum = 0.9, .form = form});
    EXPECT_THROW(optimizer.step(), OutOfMemory);
    const ParameterState* const state = optimizer.find_state(small);
    ASSERT_NE(state, nullptr);
    EXPECT_FALSE(state->tensors[0].defined());
    EXPECT_EQ(machine.allocated_bytes(),
              2 * static_cast<std::int64_t>(small.nbytes() + large.nbytes()));
  }
}

}  // namespace
}  // namespace ohm::optim
