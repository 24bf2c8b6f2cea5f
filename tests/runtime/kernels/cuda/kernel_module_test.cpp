#include "runtime/kernels/cuda/kernel_module.h"

#include <gtest/gtest.h>

#include <array>

#include "runtime/kernels/host/elementwise_twins.h"
#include "runtime/kernels/host/row_twins.h"
#include "tests/support/stand_in_driver/stand_in.h"

namespace ohm::kernels {
namespace {

using stand_in::StandIn;

TEST(KernelModule, ComputesOnTheCard) {
  const StandIn stand_in;
  {
    const auto card = StandIn::device();
    const KernelModule module(card);
    std::array<float, 5> values = {-1, 2, -3, 4, 0.5};
    cuda::Pointer memory = 0;
    ASSERT_EQ(card->current().memory_allocate(&memory, sizeof values), 0);
    card->write(memory, values.data(), sizeof values);
    ElementwiseLaunch loop;
    loop.count = values.size();
    loop.dims = 1;
    loop.sizes[0] = 5;
    loop.out.address = loop.in[0].address = memory;
    loop.out.strides[0] = loop.in[0].strides[0] = 1;
    const functors::Relu relu;
    module.launch(functors::Relu::kKernel, loop, &relu);
    card->read(values.data(), memory, sizeof values);
    card->current().memory_free(memory);
    EXPECT_EQ(values, (std::array<float, 5>{0, 2, 0, 4, 0.5}));
  }
  EXPECT_EQ(stand_in.held_bytes(), 0U);
}

TEST(KernelModule, SaysThatThereIsNoCodeForACard) {
  const StandIn stand_in("fail=cuModuleLoadData:0:209");
  const auto card = StandIn::device();
  EXPECT_THROW(KernelModule{card}, cuda::DriverError);
}

TEST(KernelModule, KnowsWhatThereAreKernelsFor) {
  const StandIn stand_in;
  const KernelModule module(StandIn::device());
  EXPECT_TRUE(module.has(functors::Relu::kKernel, DType::bfloat16));
  EXPECT_TRUE(module.has(functors::Relu::kKernel, DType::int32));
  EXPECT_TRUE(module.has(functors::Gelu::kKernel, DType::float64));
  EXPECT_FALSE(module.has(functors::Gelu::kKernel, DType::int64));
  EXPECT_FALSE(module.has("no such functor", DType::float32));
  EXPECT_FALSE(module.has("no such functor", DType::float32));
}

}  // namespace
}  // namespace ohm::kernels
