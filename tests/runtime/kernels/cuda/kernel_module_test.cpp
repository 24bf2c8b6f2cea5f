#include "runtime/kernels/cuda/kernel_module.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "runtime/kernels/host/elementwise_twins.h"
#include "runtime/kernels/host/row_twins.h"
#include "tests/support/stand_in_driver/stand_in.h"
#include "tests/support/temp_folder.h"

namespace ohm::kernels {
namespace {

using stand_in::StandIn;

TEST(KernelModule, ComputesOnTheCard) {
  if (kernel_images().empty()) GTEST_SKIP() << "no CUDA toolkit: there are no kernels";
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
  if (kernel_images().empty()) GTEST_SKIP() << "no CUDA toolkit: there are no kernels";
  const StandIn stand_in("fail=cuModuleLoadData:0:209");
  const auto card = StandIn::device();
  EXPECT_THROW(KernelModule{card}, cuda::DriverError);
}

TEST(KernelModule, KnowsWhatThereAreKernelsFor) {
  if (kernel_images().empty()) GTEST_SKIP() << "no CUDA toolkit: there are no kernels";
  const StandIn stand_in;
  const KernelModule module(StandIn::device());
  EXPECT_TRUE(module.has(functors::Relu::kKernel, DType::bfloat16));
  EXPECT_TRUE(module.has(functors::Relu::kKernel, DType::int32));
  EXPECT_TRUE(module.has(functors::Gelu::kKernel, DType::float64));
  EXPECT_FALSE(module.has(functors::Gelu::kKernel, DType::int64));
  EXPECT_FALSE(module.has("no such functor", DType::float32));
  EXPECT_FALSE(module.has("no such functor", DType::float32));
}

/// What a program prints.
std::string output_of(const std::string& command) {
  std::string text;
  FILE* const pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return text;
  std::array<char, 4096> part{};
  while (std::fgets(part.data(), static_cast<int>(part.size()), pipe) != nullptr) {
    text += part.data();
  }
  ::pclose(pipe);
  return text;
}

TEST(KernelImage, HoldsEveryKernel) {
  if (kernel_images().empty()) GTEST_SKIP() << "no CUDA toolkit: there are no kernels";
  const char* const reader = OHM_CUOBJDUMP;  // a path, or nothing
  if (*reader == '\0') GTEST_SKIP() << "cuobjdump is not installed: nothing here reads a fatbin";
  const test::TempFolder folder;
  std::string symbols;
  for (const std::span<const std::byte> image : kernel_images()) {
    const std::string path = folder.file("kernels.fatbin");
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(image.data()),
               static_cast<std::streamsize>(image.size()));
    symbols += output_of(std::string(reader) + " --dump-elf-symbols " + path);
  }
  for (const ElementwiseKernel& kernel : elementwise_kernels()) {
    EXPECT_THAT(symbols, testing::HasSubstr(kernel.symbol()));
  }
  for (const RowKernel& kernel : row_kernels()) {
    EXPECT_THAT(symbols, testing::HasSubstr(kernel.symbol()));
  }
}

}  // namespace
}  // namespace ohm::kernels
