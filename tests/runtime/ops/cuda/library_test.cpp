// How NVIDIA's libraries are found and let go, and what becomes of one that is missing or fails.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "allocator_shim/observe/out_of_memory.h"
#include "runtime/ops/convolution/conv.h"
#include "runtime/ops/matmul/matmul.h"
#include "tests/runtime/ops/cuda/library_support.h"
#include "tests/support/cuda_machine.h"

namespace ohm::test {
namespace {

using testing::HasSubstr;

cuda::LibraryPlaces nowhere() {
  const cuda::LibraryNames none = {"libthere-is-none.so.1", "libthere-is-none.so.0"};
  return {none, none, none, none};
}

TEST(DeviceLibraries, WhatIsMissingIsComputedByTheHost) {
  CudaMachine machine(1, kOneDevice, ValueMode::keeps_values, nowhere());
  EXPECT_EQ(to_doubles(ops::mm(square(), square())), (std::vector<double>{7, 10, 15, 22}));
  const auto states = machine.libraries().states();
  ASSERT_EQ(states.size(), 3U);
  EXPECT_EQ(states[0].name, "cuBLAS");
  EXPECT_EQ(states[0].version, "");
  EXPECT_THAT(states[0].missing, HasSubstr("cuBLAS is not here: libthere-is-none.so.1: cannot"));
  EXPECT_EQ(machine.stand_in().calls("cublasCreate_v2"), 0);
}

TEST(DeviceLibraries, SayWhichVersionTheyAre) {
  CudaMachine machine(1, kOneDevice + " cudnn_version=8907");
  const auto states = machine.libraries().states();
  EXPECT_EQ(states[0].version, "13.0.1");
  EXPECT_EQ(states[1].version, "13.0.1");
  EXPECT_EQ(states[2].version, "8.9.7");
}

TEST(DeviceLibraries, SayWhyOneDoesNotStart) {
  CudaMachine machine(1, kOneDevice + " fail=cudnnCreate:0:5000");
  const auto states = machine.libraries().states();
  EXPECT_EQ(states[2].version, "");
  EXPECT_EQ(states[2].missing, "cuDNN: cudnnCreate: CUDNN_STATUS_EXECUTION_FAILED");
}

TEST(DeviceLibraries, TheSecondNameIsTriedToo) {
  cuda::LibraryPlaces places = stand_in::StandIn::libraries();
  places.cublas = {"libthere-is-none.so.13", stand_in::StandIn::path()};
  CudaMachine machine(1, kOneDevice, ValueMode::keeps_values, places);
  EXPECT_EQ(machine.libraries().states()[0].missing, "");
}

TEST(DeviceLibraries, ANameThatDoesNotStartIsPassedOver) {
  cuda::LibraryPlaces places = stand_in::StandIn::libraries();
  places.cublas = {stand_in::StandIn::path(), stand_in::StandIn::path()};
  CudaMachine machine(1, kOneDevice + " fail=cublasCreate_v2:0:1", ValueMode::keeps_values, places);
  EXPECT_EQ(machine.libraries().states()[0].missing, "");
  EXPECT_EQ(machine.stand_in().calls("cublasCreate_v2"), 2);
}

TEST(DeviceLibraries, LeaveAloneACardThatDoesNotAnswer) {
  constexpr int kDeinitialized = 4;
  const stand_in::StandIn stand_in(
      fmt::format("{} fail=cuCtxSetCurrent:1:{}", kOneDevice, kDeinitialized));
  {
    cuda::DeviceLibraries libraries(stand_in::StandIn::device(), stand_in::StandIn::libraries());
    libraries.cublas();
  }
  EXPECT_EQ(stand_in.calls("cublasCreate_v2"), 1);
  EXPECT_EQ(stand_in.calls("cublasDestroy_v2"), 0);
}

TEST(DeviceLibraries, AFailureIsToldInTheLibrarysWords) {
  const CudaMachine machine(
      1, kOneDevice + " fail=cublasGemmEx:0:13 fail=cudnnConvolutionForward:0:5000");
  EXPECT_EQ(library_error_of([] { ops::mm(square(), square()); }),
            "cuBLAS: cublasGemmEx: CUBLAS_STATUS_EXECUTION_FAILED");
  EXPECT_EQ(
      library_error_of([] {
        ops::conv2d(on_card({1}, {1, 1, 1, 1}), on_card({2}, {1, 1, 1, 1}), {}, {1}, {0}, {1}, 1);
      }),
      "cuDNN: cudnnConvolutionForward: CUDNN_STATUS_EXECUTION_FAILED");
  EXPECT_EQ(to_doubles(ops::mm(square(), square())), (std::vector<double>{7, 10, 15, 22}))
      << "the card is as usable as before";
}

TEST(DeviceLibraries, WhatTheyDoNotSupportIsComputedByTheHost) {
  const CudaMachine machine(
      1, kOneDevice + " fail=cublasGemmEx:0:15 fail=cudnnConvolutionForward:0:3000");
  EXPECT_EQ(to_doubles(ops::mm(square(), square())), (std::vector<double>{7, 10, 15, 22}));
  const Tensor image = on_card({3}, {1, 1, 1, 1});
  const Tensor filter = on_card({2}, {1, 1, 1, 1});
  EXPECT_EQ(to_doubles(ops::conv2d(image, filter, {}, {1}, {0}, {1}, 1)), (std::vector<double>{6}));
  EXPECT_EQ(machine.stand_in().calls("cublasGemmEx"), 1);
  EXPECT_EQ(machine.stand_in().calls("cudnnConvolutionForward"), 1);
}

TEST(DeviceLibraries, ABrokenCardIsToldBeforeTheLibrarysError) {
  CudaMachine machine(1, kOneDevice + " fail=cublasGemmEx:0:13 fail=cuCtxSynchronize:0:700");
  try {
    ops::mm(square(), square());
    FAIL() << "it was told to fail";
  } catch (const cuda::DriverError& error) {
    EXPECT_EQ(error.code(), 700);
  }
}

TEST(DeviceLibraries, AMissOfMemoryIsOutOfMemory) {
  const CudaMachine machine(1, kOneDevice + " fail=cublasCreate_v2:0:3 fail=cudnnCreate:0:4004");
  try {
    ops::mm(square(), square());
    FAIL() << "it was told to fail";
  } catch (const OutOfMemory& error) {
    EXPECT_STREQ(error.what(),
                 "CUDA out of memory. cuBLAS: cublasCreate_v2: CUBLAS_STATUS_ALLOC_FAILED");
    EXPECT_EQ(error.report().device, 0);
    EXPECT_FALSE(error.report().injected);
    EXPECT_GT(error.report().capacity_bytes, 0U);
  }
  const auto convolve = [] {
    return ops::conv2d(on_card({1}, {1, 1, 1, 1}), on_card({2}, {1, 1, 1, 1}), {}, {1}, {0}, {1},
                       1);
  };
  EXPECT_THROW(convolve(), OutOfMemory);
  EXPECT_EQ(to_doubles(ops::mm(square(), square())), (std::vector<double>{7, 10, 15, 22}));
  EXPECT_EQ(to_doubles(convolve()), (std::vector<double>{2}));
}

TEST(DeviceLibraries, GiveBackAllThatTheyMake) {
  const stand_in::StandIn stand_in(kOneDevice + " fail=cublasLtMatrixLayoutCreate:2:3" +
                                   " fail=cudnnSetTensor4dDescriptor:1:2000");
  {
    const auto card = stand_in::StandIn::device();
    cuda::DeviceLibraries libraries(card, stand_in::StandIn::libraries());
    cuda::Convolution convolution;
    convolution.input = convolution.filter = convolution.output = {1, 1, 1, 1};
    const auto ask = [&] {
      return libraries.cudnn()->suggested(cuda::ConvolutionPass::output, convolution);
    };
    EXPECT_THROW(ask(), cuda::LibraryError);
    ask();
    cuda::Product product;
    product.m = product.n = product.k = 1;
    EXPECT_THROW(libraries.cublaslt()->multiply_with_bias(product, 0, {}), cuda::LibraryError);
    EXPECT_GT(stand_in.held_bytes(), 0U) << "handles are held as long as the libraries are";
  }
  EXPECT_EQ(stand_in.held_bytes(), 0U);
}

}  // namespace
}  // namespace ohm::test
