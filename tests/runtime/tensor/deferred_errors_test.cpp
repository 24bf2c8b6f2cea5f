// What a kernel finds wrong is told when the host reads the device next.
#include "runtime/tensor/deferred_errors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/engine.h"
#include "runtime/ops/embedding/embedding.h"
#include "runtime/ops/indexing/indexing.h"
#include "runtime/ops/loss/loss_distance.h"
#include "runtime/ops/loss/loss_nll.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/reduction/reduction.h"
#include "tests/support/cuda_machine.h"

namespace ohm::test {
namespace {

constexpr TensorOptions kFloats{DType::float32, Device::cuda(0)};

class ErrorsThatAreToldLater : public testing::Test {
 protected:
  static Tensor places(const std::vector<double>& values) {
    return transfer(from_values(values, {static_cast<std::int64_t>(values.size())},
                                {DType::int64, Device::cpu()}),
                    Device::cuda(0));
  }
  /// What reading `tensor` throws; empty: nothing.
  static std::string error_of_reading(const Tensor& tensor) {
    try {
      to_doubles(tensor);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  }

  CudaMachine machine_;
};

TEST_F(ErrorsThatAreToldLater, NoLookUpWaitsForTheDevice) {
  const Tensor table = ones({8, 8}, kFloats);
  table.set_requires_grad(true);
  const Tensor index = places({1, 7, 0, 3});
  const int before = machine_.downloads();
  const Tensor rows = ops::embedding(index, table, std::nullopt);
  const Tensor picked = ops::index_select(rows, 0, index);
  const Tensor loss = ops::add(ops::nll_loss(rows, index, std::nullopt, -100, ops::Reduction::mean),
                               ops::mse_loss(rows, picked, ops::Reduction::mean));
  backward(loss);
  EXPECT_EQ(machine_.downloads(), before);
}

TEST_F(ErrorsThatAreToldLater, TheNextReadIsTold) {
  const Tensor table = ones({4, 3}, kFloats);
  const Tensor rows = ops::embedding(places({1, 9, 4}), table, std::nullopt);
  const Tensor other = ops::mul(table, 2.0);
  EXPECT_EQ(error_of_reading(other), "[embedding] index 4 is out of bounds for a size of 4")
      << "the least of them";
  EXPECT_EQ(error_of_reading(other), "") << "told once";
}

TEST_F(ErrorsThatAreToldLater, TheFirstOfThemIsTold) {
  const Tensor table = ones({4, 3}, kFloats);
  ops::embedding(places({1, 2}), table, std::nullopt);
  ops::index_select(table, 0, places({0, -1}));
  ops::embedding(places({5}), table, std::nullopt);
  EXPECT_EQ(error_of_reading(table), "[index_select] index -1 is out of bounds for a size of 4");
  EXPECT_EQ(error_of_reading(table), "");
}

TEST_F(ErrorsThatAreToldLater, AnItemIsARead) {
  const Tensor table = ones({4, 3}, kFloats);
  ops::embedding(places({5}), table, std::nullopt);
  EXPECT_THROW(ops::sum(table).item(), std::invalid_argument);
}

TEST_F(ErrorsThatAreToldLater, TheProgramsEndIsTold) {
  Context& context = machine_.context();
  context.check_deferred_errors();
  ops::embedding(places({5}), ones({4, 3}, kFloats), std::nullopt);
  EXPECT_THROW(context.check_deferred_errors(), std::invalid_argument);
  context.check_deferred_errors();
}

TEST_F(ErrorsThatAreToldLater, AreCheckedWhereAllWordsAreTaken) {
  const Tensor table = ones({4, 3}, kFloats);
  const Tensor good = places({1});
  ops::embedding(places({5}), table, std::nullopt);
  const auto look_up_often = [&] {
    for (int i = 0; i < 1024; ++i) ops::embedding(good, table, std::nullopt);
  };
  EXPECT_THROW(look_up_often(), std::invalid_argument);
  look_up_often();
  EXPECT_EQ(error_of_reading(ops::mul(table, 2.0)), "");
}

TEST(DeferredErrors, WithoutMemoryAnOpThrowsItsOwn) {
  // The first is the segment of the tensors.
  const CudaMachine machine(1, "devices=1 capacity=268435456 fail=cuMemAlloc_v2:1:2");
  const Tensor table = ones({4, 3}, kFloats);
  const Tensor index =
      transfer(from_values({5}, {1}, {DType::int64, Device::cpu()}), Device::cuda(0));
  EXPECT_THROW(ops::embedding(index, table, std::nullopt), std::invalid_argument);
}

}  // namespace
}  // namespace ohm::test
