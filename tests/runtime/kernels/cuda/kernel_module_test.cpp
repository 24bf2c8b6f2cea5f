#include "runtime/kernels/cuda/kernel_module.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

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

/// What it says where the driver answers so when it loads an image.
std::string refusal(const std::string& machine) {
  const StandIn stand_in(machine);
  const auto card = StandIn::device();
  try {
    const KernelModule module(card);
  } catch (const KernelsUnavailable& missing) {
    return missing.what();
  }
  return "";
}

TEST(KernelModule, SaysWhatItsKernelsNeed) {
  EXPECT_EQ(refusal("fail=cuModuleLoadData:0:209"),
            "this build has no kernels for compute capability 8.0 (it has 80)");
  for (const std::string code : {"200", "218", "222"}) {
    EXPECT_EQ(refusal("version=12040 fail=cuModuleLoadData:0:" + code),
              "the kernels of this build need a driver for CUDA 13.0 or newer; this one is for "
              "CUDA 12.4");
  }
}

TEST(KernelModule, AnyOtherAnswerIsAnErrorOfTheDriver) {
  const StandIn stand_in("fail=cuModuleLoadData:0:2");
  const auto card = StandIn::device();
  EXPECT_THROW(KernelModule{card}, cuda::DriverError);
}

TEST(KernelModule, LoadsAnImageWhenItsFirstKernelIsAskedFor) {
  const StandIn stand_in;
  const KernelModule module(StandIn::device());
  EXPECT_EQ(stand_in.calls("cuModuleLoadData"), 1);
  EXPECT_FALSE(module.has("no such functor", DType::float32));
  EXPECT_EQ(stand_in.calls("cuModuleLoadData"), 1);
  EXPECT_TRUE(module.has(functors::Gelu::kKernel, DType::float32));
  EXPECT_TRUE(module.has(functors::Gelu::kKernel, DType::float64));
  EXPECT_EQ(stand_in.calls("cuModuleLoadData"), 2);
  module.load_all();
  EXPECT_EQ(stand_in.calls("cuModuleLoadData"), static_cast<int>(kernel_build().images.size()));
}

TEST(KernelModule, KeepsScratchUntilMoreIsAskedFor) {
  const StandIn stand_in;
  {
    const KernelModule module(StandIn::device());
    const std::uint64_t first = module.scratch(1000);
    EXPECT_NE(first, 0U);
    EXPECT_EQ(module.scratch(1 << 20), first);
    EXPECT_EQ(stand_in.calls("cuMemAlloc_v2"), 1);
    module.scratch((1 << 20) + 1);
    EXPECT_EQ(stand_in.calls("cuMemAlloc_v2"), 2);
    EXPECT_EQ(stand_in.calls("cuMemFree_v2"), 1);
    module.scratch(2 << 20);
    EXPECT_EQ(stand_in.calls("cuMemAlloc_v2"), 2) << "it grows by more than was asked for";
    EXPECT_TRUE(module.release_scratch());
    EXPECT_FALSE(module.release_scratch());
    module.scratch(1000);
  }
  EXPECT_EQ(stand_in.held_bytes(), 0U);
}

TEST(KernelBuild, MachineCodeRunsOnLaterDevicesOfItsGeneration) {
  KernelBuild build;
  build.architectures = {80, 100};
  EXPECT_TRUE(build.has_machine_code_for({8, 0}));
  EXPECT_TRUE(build.has_machine_code_for({8, 9}));
  EXPECT_TRUE(build.has_machine_code_for({10, 3}));
  EXPECT_FALSE(build.has_machine_code_for({7, 5}));
  EXPECT_FALSE(build.has_machine_code_for({9, 0}));
  EXPECT_FALSE(build.has_machine_code_for({12, 0}));
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
