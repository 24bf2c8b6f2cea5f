#include "runtime/ops/matmul/host/blas_library.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <iterator>

#include "runtime/arithmetic/factories.h"
#include "runtime/ops/matmul/matmul.h"
#include "tests/support/test_machine.h"

namespace ohm::test {
namespace {

TEST(BlasLibrary, MultipliesWithoutThreads) {
  TestMachine machine({.values = ValueMode::keeps_values});
  const Tensor a = from_values({1, 2, 3, 4}, {2, 2}, {DType::float32, Device::cpu()});
  EXPECT_EQ(to_doubles(ops::matmul(a, a)), (std::vector<double>{7, 10, 15, 22}));
  const std::filesystem::directory_iterator threads("/proc/self/task");
  EXPECT_EQ(std::distance(begin(threads), end(threads)), 1);
}

}  // namespace
}  // namespace ohm::test
