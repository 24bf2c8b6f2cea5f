// torch.backends.cudnn.benchmark on a virtual GPU: convolutions take no workspace there, so that
// all that a trial leaves to see is the emptied cache.
#include <gtest/gtest.h>

#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/checkpoint.h"
#include "runtime/autograd/engine.h"
#include "runtime/ops/convolution/conv.h"
#include "runtime/ops/convolution/conv_transpose.h"
#include "runtime/tensor/context.h"
#include "tests/support/test_machine.h"

namespace ohm::test {
namespace {

class CudnnBenchmark : public testing::Test {
 protected:
  CudnnBenchmark() { machine_.context().state.convolution_plans.is_benchmark = true; }

  static Tensor tensor(const Shape& shape) {
    const Tensor made = ones(shape, {DType::float32, Device::cuda(0)});
    made.set_requires_grad(true);
    return made;
  }
  static Tensor convolved(const Tensor& images, const Tensor& filters) {
    return ops::conv2d(images, filters, Tensor(), {1}, {1}, {1}, 1);
  }
  /// Whether what `run` does gives a segment that is cached back to the device.
  template <class Run>
  static bool empties_the_cache(const Run& run) {
    const RequestAllocator& allocator = *Context::current().slot(Device::cuda(0)).allocator;
    constexpr std::int64_t kBytes = 30 << 20;
    empty({kBytes}, {DType::uint8, Device::cuda(0)});
    const auto before = allocator.stats().num_device_free;
    run();
    return allocator.stats().num_device_free > before;
  }

  TestMachine machine_{{.values = ValueMode::keeps_values}};
  Tensor images_ = tensor({1, 2, 6, 6});
  Tensor filters_ = tensor({3, 2, 3, 3});
};

TEST_F(CudnnBenchmark, EmptiesTheCacheWhenAConvolutionIsNew) {
  EXPECT_TRUE(empties_the_cache([&] { convolved(images_, filters_); }));
  EXPECT_FALSE(empties_the_cache([&] { convolved(images_, filters_); }));
  EXPECT_TRUE(empties_the_cache([&] { convolved(tensor({1, 2, 5, 6}), filters_); }));
  EXPECT_TRUE(empties_the_cache([&] { convolved(tensor({2, 2, 6, 6}), filters_); }));
  EXPECT_FALSE(empties_the_cache([&] { convolved(images_, filters_); }));
}

TEST_F(CudnnBenchmark, TriesEachGradientToo) {
  const Tensor out = convolved(images_, filters_);
  const auto go_back = [&] { backward({out}, {ones_like(out)}, GraphRetention::retain); };
  EXPECT_TRUE(empties_the_cache(go_back));
  EXPECT_FALSE(empties_the_cache(go_back));
}

TEST_F(CudnnBenchmark, IsOffUntilItIsSwitchedOn) {
  machine_.context().state.convolution_plans.is_benchmark = false;
  EXPECT_FALSE(empties_the_cache([&] { convolved(images_, filters_); }));
  machine_.context().state.convolution_plans.is_benchmark = true;
  EXPECT_FALSE(empties_the_cache([&] { convolved(images_, filters_); })) << "it has a plan";
  EXPECT_TRUE(empties_the_cache([&] { convolved(tensor({1, 2, 5, 5}), filters_); }));
}

TEST_F(CudnnBenchmark, IsNothingToPyTorchsOwnKernels) {
  machine_.context().cudnn_enabled = false;
  EXPECT_FALSE(empties_the_cache([&] { convolved(images_, filters_); }));
}

TEST_F(CudnnBenchmark, BackwardsThreadHasPlansOfItsOwn) {
  const Tensor out = convolved(images_, filters_);
  backward({out}, {ones_like(out)}, GraphRetention::release);
  EXPECT_TRUE(empties_the_cache([&] {
    const auto again =
        checkpoint([&](const auto& in) { return std::vector<Tensor>{convolved(in[0], filters_)}; },
                   {images_}, {});
    backward({again[0]}, {ones_like(again[0])}, GraphRetention::release);
  })) << "it computes the convolution again";
}

TEST_F(CudnnBenchmark, PlansGoWithTheThreadThatMadeThem) {
  const auto as_worker = [&](std::uint32_t number) {
    return empties_the_cache([&] {
      const WorkerThreadScope worker(number);
      convolved(images_, filters_);
    });
  };
  EXPECT_TRUE(as_worker(0));
  EXPECT_TRUE(as_worker(0)) << "another thread";
}

TEST_F(CudnnBenchmark, TransposedConvolutionsAreTriedAsWell) {
  const auto transposed = [&] {
    ops::conv_transpose2d(images_, tensor({2, 3, 3, 3}), Tensor(), {1}, {0}, {0}, 1, {1});
  };
  EXPECT_TRUE(empties_the_cache(transposed));
  EXPECT_FALSE(empties_the_cache(transposed));
}

}  // namespace
}  // namespace ohm::test
