// Reductions on a real card, in one go or in pieces: what they give, and what they take.
#include <cmath>
#include <limits>

#include "runtime/arithmetic/reduce.h"
#include "runtime/arithmetic/reduction_scratch.h"
#include "runtime/kernels/cuda/kernel_module.h"
#include "runtime/ops/reduction/extremum.h"
#include "runtime/ops/reduction/norm.h"
#include "runtime/ops/reduction/reduction.h"
#include "runtime/tensor/context.h"
#include "tests/support/cuda_comparison.h"

namespace ohm::test {
namespace {

class CudaReductions : public testing::Test {
 protected:
  static Tensor numbers(const Shape& shape, DType dtype = DType::float32) {
    Context::current().seed(9);
    return cast(randn(shape, {DType::float64, Device::cpu()}), dtype);
  }
  using SplitReduction = std::function<Tensor(const Tensor&, const Shape&)>;
  /// Along each of these dimensions, of both layouts. Without their gradients.
  void expect_same(const SplitReduction& fold, const Tensor& input,
                   const std::vector<Shape>& all_dims) {
    for (const Shape& dims : all_dims) {
      SCOPED_TRACE(input.shape().str() + " along " + dims.str());
      expect_same_on_cuda(
          machine_,
          [&](const auto& in) { return std::vector<Tensor>{fold(detached_alias(in[0]), dims)}; },
          {input}, 1e-6);
    }
  }
  int launches() const { return machine_.stand_in().calls("cuLaunchKernel"); }

  CudaMachine machine_;
};

TEST_F(CudaReductions, SumsOfAnySize) {
  const SplitReduction sum = [](const Tensor& in, const Shape& dims) {
    return ops::sum(in, dims, false, std::nullopt);
  };
  expect_same(sum, numbers({1}), {{0}});
  expect_same(sum, numbers({4095}), {{0}});
  expect_same(sum, numbers({8192}), {{0}});
  expect_same(sum, numbers({1'000'003}), {{0}});
  expect_same(sum, numbers({3, 50'001}), {{0}, {1}, {0, 1}});
  expect_same(sum, numbers({50'001, 3}), {{0}, {1}, {0, 1}});
  expect_same(sum, numbers({20'011, 24}), {{0}, {1}, {0, 1}});
  expect_same(sum, numbers({9, 40, 31, 29}), {{0, 2, 3}, {1}, {0, 2}, {0}});
  expect_same(sum, numbers({200'000}, DType::float16), {{0}});
  expect_same(sum, cast(numbers({200'000}), DType::boolean), {{0}});
}

TEST_F(CudaReductions, IntegersAreAddedUpAsIntegers) {
  constexpr std::int64_t kEach = (std::int64_t{1} << 49U) + 1;
  const Tensor input = full({8193}, static_cast<double>(kEach), {DType::int64, Device::cuda(0)});
  std::int64_t found = 0;
  ops::sum(input).storage().peek(&found, 0, sizeof found);
  EXPECT_EQ(found, 8193 * kEach) << "which no float64 is";
}

TEST_F(CudaReductions, NormsAndMeansOfAnySize) {
  for (const double p : {1.0, 2.0}) {
    const SplitReduction norm = [p](const Tensor& in, const Shape& dims) {
      return ops::norm(in, p, dims, false);
    };
    expect_same(norm, numbers({300'000}), {{0}});
    expect_same(norm, numbers({10'000, 16}), {{0}, {1}, {0, 1}});
  }
  expect_same([](const Tensor& in, const Shape& dims) { return ops::mean(in, dims, true); },
              numbers({5, 60'000}), {{0}, {1}, {0, 1}});
}

TEST_F(CudaReductions, ExtremaAndTheirPlacesOfAnySize) {
  Tensor with_nan = numbers({2, 3, 20'000});
  fill_values(make_view(with_nan, {2}, {7'000}, 25'000), std::nan(""));
  Tensor with_equals = numbers({2, 3, 20'000});
  copy_into(with_equals, cast(cast(with_equals, DType::int32), DType::float32));
  for (const Tensor& input : {numbers({2, 3, 20'000}), with_nan, with_equals}) {
    for (const std::int64_t dim : {0, 1, 2}) {
      for (const bool largest : {false, true}) {
        expect_same_on_cuda(
            machine_,
            [&](const auto& in) {
              const Tensor given = detached_alias(in[0]);
              const auto [value, place] =
                  largest ? ops::max(given, dim, false) : ops::min(given, dim, false);
              return std::vector<Tensor>{
                  value, place,
                  largest ? ops::argmax(given, dim, true) : ops::argmin(given, dim, true),
                  largest ? ops::argmax(given, std::nullopt, false)
                          : ops::argmin(given, std::nullopt, false),
                  largest ? ops::max(given) : ops::min(given)};
            },
            {input});
      }
    }
  }
}

TEST_F(CudaReductions, BoolsAreAskedForAnyAndForAll) {
  for (const double first : {0.0, 1.0}) {
    for (const double last : {0.0, 1.0}) {
      const Tensor bools = full({20'000}, first, {DType::boolean, Device::cpu()});
      fill_values(make_view(bools, {1}, {1}, 19'999), last);
      expect_same_on_cuda(machine_,
                          [](const auto& in) {
                            return std::vector<Tensor>{ops::any(in[0]), ops::all(in[0])};
                          },
                          {bools});
    }
  }
}

TEST_F(CudaReductions, ManyElementsToOneAreFoldedInPieces) {
  const auto launches_of = [this](const Shape& shape, const Shape& dims) {
    const Tensor input = zeros(shape, {DType::float32, Device::cuda(0)});
    const int before = launches();
    reduce_sum(input, dims.empty() ? 0 : with(0, static_cast<int>(dims[0])), false, DType::float32);
    return launches() - before;
  };
  EXPECT_EQ(launches_of({8191}, {0}), 1);
  EXPECT_EQ(launches_of({8192}, {0}), 2);
  EXPECT_EQ(launches_of({1000, 8192}, {1}), 1) << "there are enough of them";
  EXPECT_EQ(launches_of({8192, 1000}, {0}), 2);
  EXPECT_EQ(launches_of({64, 1000}, {0}), 1);
}

TEST_F(CudaReductions, PiecesTakeNoMemoryThatIsCounted) {
  const RequestAllocator& allocator = *Context::current().slot(Device::cuda(0)).allocator;
  const Tensor input = zeros({100'000, 3}, {DType::float32, Device::cuda(0)});
  const auto before = allocator.stats().allocation[0].allocated;
  const ReductionScratch modelled(input, 1);
  const auto of_model = allocator.stats().allocation[0].allocated - before;
  for (int i = 0; i < 3; ++i) reduce_sum(input, 1, false, DType::float32);
  EXPECT_EQ(allocator.stats().allocation[0].allocated - before, of_model + 3 * (1 + of_model));
}

TEST(CudaReduction, FindsNoMemoryForPieces) {
  const CudaMachine machine(1, "fail=cuMemAlloc_v2:2:2 fail=cuMemAlloc_v2:3:2");
  const Tensor input = full({100'000, 3}, 1.0, {DType::float32, Device::cuda(0)});
  const int before = machine.stand_in().calls("cuLaunchKernel");
  EXPECT_EQ(to_doubles(reduce_sum(input, 1, false, DType::float32)),
            std::vector<double>(3, 100'000));
  EXPECT_EQ(machine.downloads(), 1) << "the result alone";
  EXPECT_EQ(machine.stand_in().calls("cuLaunchKernel"), before + 1) << "in one go";
}

}  // namespace
}  // namespace ohm::test
