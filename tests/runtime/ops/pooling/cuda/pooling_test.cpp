// Pooling on a real card: values, what was chosen and gradients are those of the host, bit by bit.
#include "runtime/ops/pooling/average_pool.h"
#include "runtime/ops/pooling/max_pool.h"

#include "runtime/kernels/cuda/kernel_module.h"
#include "runtime/tensor/context.h"
#include "tests/support/cuda_comparison.h"

namespace ohm::test {
namespace {

class CudaPooling : public testing::Test {
 protected:
  static Tensor images(const Shape& shape, DType dtype) {
    Context::current().seed(3);
    return cast(randn(shape, {DType::float64, Device::cpu()}), dtype);
  }
  void expect_same(const std::function<Tensor(const Tensor&)>& pool, const Tensor& input) {
    expect_same_on_cuda(machine_, [&](const auto& in) { return std::vector<Tensor>{pool(in[0])}; },
                        {input});
  }

  CudaMachine machine_;
};

constexpr DType kFloating[] = {DType::float32, DType::float64, DType::float16, DType::bfloat16};

TEST_F(CudaPooling, TakesTheLargestAndSendsItsGradientBack) {
  struct Case {
    Shape kernel;
    Shape stride;
    Shape padding;
    Shape dilation;
    bool ceil_mode;
  };
  const Case cases[] = {{{2}, {2}, {0}, {1}, false},         {{3, 2}, {2, 1}, {1, 0}, {1}, true},
                        {{3}, {1}, {1}, {1}, false},         {{3}, {2}, {1}, {2}, false},
                        {{2, 3}, {3, 4}, {1, 1}, {1}, true}, {{7, 9}, {1}, {0}, {1}, false}};
  for (const DType dtype : kFloating) {
    for (const Case& one : cases) {
      SCOPED_TRACE(std::string(name_of(dtype)) + one.kernel.str() + one.dilation.str());
      expect_same(
          [&](const Tensor& in) {
            return ops::max_pool2d(in, one.kernel, one.stride, one.padding, one.dilation,
                                   one.ceil_mode);
          },
          images({2, 3, 7, 9}, dtype));
    }
  }
}

TEST_F(CudaPooling, TakesTheFirstOfEqualsAndAnythingThatIsNoNumber) {
  Tensor input = images({1, 8, 8}, DType::float32);
  const Tensor steps = arange(0, 1, 64, {DType::float32, Device::cpu()});
  copy_into(input,
            make_view(cast(cast(steps, DType::float16), DType::float32), {1, 8, 8}, {64, 8, 1}, 0));
  fill_values(make_view(input, {1, 4, 8}, {64, 8, 1}, 0), 2.0);
  fill_values(make_view(input, {2}, {9}, 34), std::nan(""));
  expect_same([](const Tensor& in) { return ops::max_pool2d(in, {3}, {{2}}, {1}, {1}, false); },
              input);
}

TEST_F(CudaPooling, AWindowOfNothingButPaddingHasNoGradientToSend) {
  const Tensor input = images({1, 1, 1}, DType::float32);
  expect_same([](const Tensor& in) { return ops::max_pool2d(in, {2}, {{1}}, {1}, {2}, false); },
              input);
  const Tensor leaf = transfer(input, Device::cuda(0));
  leaf.set_requires_grad(true);
  const Tensor out = ops::max_pool2d(leaf, {2}, {{1}}, {1}, {2}, false);
  EXPECT_THAT(to_doubles(out), testing::ElementsAre(-std::numeric_limits<double>::infinity()));
  backward({out}, {ones_like(out)}, GraphRetention::release);
  EXPECT_THAT(to_doubles(leaf.grad()), testing::ElementsAre(0));
}

TEST_F(CudaPooling, SplitsAnImage) {
  for (const DType dtype : kFloating) {
    for (const Shape& size : {Shape{2}, Shape{3, 5}, Shape{7, 4}, Shape{10, 11}}) {
      SCOPED_TRACE(std::string(name_of(dtype)) + size.str());
      expect_same([&](const Tensor& in) { return ops::adaptive_avg_pool2d(in, size); },
                  images({2, 3, 7, 9}, dtype));
    }
  }
}

TEST_F(CudaPooling, AveragesWhatCudnnCannot) {
  const Tensor input = images({2, 3, 8, 10}, DType::float32);
  for (const bool counts_padding : {false, true}) {
    expect_same(
        [&](const Tensor& in) {
          return ops::avg_pool2d(in, {3}, {{2}}, {1}, true, counts_padding, std::nullopt);
        },
        input);
    expect_same(
        [&](const Tensor& in) {
          return ops::avg_pool2d(in, {3}, {{2}}, {1}, false, counts_padding, 5);
        },
        input);
  }
}

}  // namespace
}  // namespace ohm::test
