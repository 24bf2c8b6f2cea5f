// What convolutions allocate and free: sequences of PyTorch 2.6.0 for the same programs.
#include "runtime/ops/convolution/conv.h"
#include "tests/support/op_events.h"

namespace ohm::test {
namespace {

class ConvEvents : public OpEvents {
 protected:
  ConvEvents() : OpEvents(kWorkspaceBytes) {}

  static Tensor convolve(const Tensor& x, const Tensor& weight, const std::optional<Tensor>& bias) {
    return ops::conv2d(x, weight, bias, {1}, {1}, {1}, 1);
  }
};

class NativeConvEvents : public ConvEvents {
 protected:
  NativeConvEvents() {
    context().cudnn_enabled = false;
    context().rules = find_rule_set("pytorch-2.6");  // each product's workspace stays
  }
};

TEST_F(ConvEvents, CudnnMakesTheGradientsOfInputWeightAndBiasInThatOrder) {
  const Tensor weight = leaf({16, 16, 3, 3});
  const Tensor bias = leaf({16});
  const Tensor x = leaf({16, 16, 10, 10});
  EXPECT_EQ(events(), "+1:9216 +2:64 +3:102400");
  const Tensor out = convolve(x, weight, bias);
  EXPECT_EQ(events(), "+4:102400");
  EXPECT_EQ(backward_events(out), "+6:102400 +7:9216 +8:64");
}

TEST_F(ConvEvents, InputAndWeightAreKeptWhateverNeedsAGradient) {
  const Tensor bias = leaf({16});
  Tensor weight = input({16, 16, 3, 3});
  Tensor x = input({16, 16, 10, 10});
  const Tensor out = convolve(x, weight, bias);
  EXPECT_EQ(events(), "+1:64 +2:9216 +3:102400 +4:102400");
  x = Tensor();
  weight = Tensor();
  EXPECT_EQ(events(), "");
  EXPECT_EQ(backward_events(out), "+6:64 -3 -2");
}

TEST_F(ConvEvents, AnExpandedGradientIsCopiedFirst) {
  const Tensor weight = leaf({16, 16, 3, 3});
  const Tensor x = input({16, 16, 10, 10});
  const Tensor out = convolve(x, weight, std::nullopt);
  EXPECT_EQ(events(), "+1:9216 +2:102400 +3:102400");
  const Tensor one = ones({}, on_gpu());
  const Tensor grad = make_view(one, out.shape(), Shape(4, 0), 0);
  backward({out}, {grad}, GraphRetention::release);
  EXPECT_EQ(events(), "+4:4 +5:102400 +6:9216 -5");
}

TEST_F(ConvEvents, DepthwiseConvolutionsNeedNoColumnsEvenWithoutCudnn) {
  context().cudnn_enabled = false;
  const Tensor weight = leaf({16, 1, 3, 3});
  const Tensor x = leaf({16, 16, 10, 10});
  const Tensor out = ops::conv2d(x, weight, std::nullopt, {1}, {1}, {1}, 16);
  EXPECT_EQ(events(), "+1:576 +2:102400 +3:102400");
  EXPECT_EQ(backward_events(out), "+5:576 +6:102400");
}

TEST_F(NativeConvEvents, OneBufferOfColumnsLivesThroughEachCall) {
  const Tensor weight = leaf({16, 16, 3, 3});
  const Tensor bias = leaf({16});
  const Tensor x = leaf({16, 16, 10, 10});
  EXPECT_EQ(events(), "+1:9216 +2:64 +3:102400");
  const Tensor out = convolve(x, weight, bias);
  EXPECT_EQ(events(), "+4:102400 +5:57600 +6:8519680 -5");
  EXPECT_EQ(backward_events(out), "+8:102400 +9:57600 +10:8519680 +11:64 +12:9216 -9");
}

TEST_F(NativeConvEvents, WithoutAGradientForTheInputTheBiasComesFirst) {
  const Tensor weight = leaf({16, 16, 3, 3});
  const Tensor bias = leaf({16});
  const Tensor x = input({16, 16, 10, 10});
  EXPECT_EQ(events(), "+1:9216 +2:64 +3:102400");
  const Tensor out = convolve(x, weight, bias);
  EXPECT_EQ(events(), "+4:102400 +5:57600 +6:8519680 -5");
  EXPECT_EQ(backward_events(out), "+8:64 +9:9216 +10:57600 +11:8519680 -10");
}

TEST_F(NativeConvEvents, WithoutBiasTheWeightFollowsTheInput) {
  const Tensor weight = leaf({16, 16, 3, 3});
  const Tensor x = leaf({16, 16, 10, 10});
  EXPECT_EQ(events(), "+1:9216 +2:102400");
  const Tensor out = convolve(x, weight, std::nullopt);
  EXPECT_EQ(events(), "+3:102400 +4:57600 +5:8519680 -4");
  EXPECT_EQ(backward_events(out), "+7:102400 +8:57600 +9:8519680 +10:9216 -8");
}

TEST_F(NativeConvEvents, DilatedKernelsSumTheBiasImageByImage) {
  const Tensor weight = leaf({16, 16, 3, 3});
  const Tensor bias = leaf({16});
  const Tensor x = leaf({2, 16, 12, 12});
  EXPECT_EQ(events(), "+1:9216 +2:64 +3:18432");
  const Tensor out = ops::conv2d(x, weight, bias, {1}, {1}, {2}, 1);
  EXPECT_EQ(events(), "+4:12800 +5:57600 +6:8519680 -5");
  EXPECT_EQ(backward_events(out),
            "+8:18432 +9:9216 +10:64 +11:57600 +12:8519680 +13:64 -13 +14:64 -14 -11");
}

}  // namespace
}  // namespace ohm::test
