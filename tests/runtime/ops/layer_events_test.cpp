// What pooling, normalisation, dropout and embedding allocate and free: sequences of PyTorch 2.6.0
// for the same programs.
#include "runtime/ops/embedding/embedding.h"
#include "runtime/ops/normalization/batch_norm.h"
#include "runtime/ops/normalization/layer_norm.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/pooling/average_pool.h"
#include "runtime/ops/pooling/max_pool.h"
#include "runtime/ops/random/dropout.h"
#include "tests/support/op_events.h"

namespace ohm::test {
namespace {

constexpr std::int64_t kN = 160;

class PoolingEvents : public OpEvents {};
class BatchNormEvents : public OpEvents {};
class LayerNormEvents : public OpEvents {};
class DropoutEvents : public OpEvents {};

class EmbeddingEvents : public OpEvents {
 protected:
  EmbeddingEvents() { context().rules = find_rule_set("pytorch-2.6"); }
};

TEST_F(PoolingEvents, MaxPoolingKeepsInt64Indices) {
  const Tensor x = leaf({16, 16, 10, 10});
  const Tensor out = ops::max_pool2d(x, {2}, std::nullopt, {0}, {1}, false);
  EXPECT_EQ(events(), "+1:102400 +2:25600 +3:51200");
  EXPECT_EQ(backward_events(out), "+5:102400 -3");
}

TEST_F(PoolingEvents, MaxPoolingMakesIndicesEvenWithoutAGraph) {
  const Tensor x = input({16, 16, 10, 10});
  const Tensor out = ops::max_pool2d(x, {2}, std::nullopt, {0}, {1}, false);
  EXPECT_EQ(events(), "+1:102400 +2:25600 +3:51200 -3");
}

TEST_F(PoolingEvents, AveragePoolingMakesNothingBesideItsResult) {
  const Tensor x = leaf({16, 16, 10, 10});
  const Tensor out = ops::avg_pool2d(x, {2}, std::nullopt, {0}, false, true, std::nullopt);
  EXPECT_EQ(events(), "+1:102400 +2:25600");
  EXPECT_EQ(backward_events(out), "+4:102400");
}

TEST_F(PoolingEvents, AveragingToOnePixelKeepsNothing) {
  Tensor x = leaf({16, 16, 10, 10});
  Tensor doubled = ops::mul(x, 2.0);
  const Tensor out = ops::adaptive_avg_pool2d(doubled, {1});
  EXPECT_EQ(events(), "+1:102400 +2:102400 +3:1024");
  doubled = Tensor();
  EXPECT_EQ(events(), "-2");
}

TEST_F(PoolingEvents, AveragingToSeveralPixelsKeepsTheInput) {
  const Tensor x = leaf({16, 16, 10, 10});
  Tensor doubled = ops::mul(x, 2.0);
  const Tensor out = ops::adaptive_avg_pool2d(doubled, {2});
  EXPECT_EQ(events(), "+1:102400 +2:102400 +3:4096");
  doubled = Tensor();
  EXPECT_EQ(events(), "");
}

// Weight, bias, running mean and running variance of a normalisation in this order.
struct NormParameters {
  Tensor weight, bias, mean, variance;
};

NormParameters norm_parameters(std::int64_t channels, DType dtype = DType::float32) {
  const TensorOptions options{dtype, Device::cuda(0)};
  NormParameters p{ones({channels}, options), zeros({channels}, options),
                   zeros({channels}, options), ones({channels}, options)};
  p.weight.set_requires_grad(true);
  p.bias.set_requires_grad(true);
  return p;
}

Tensor normalise(const Tensor& x, const NormParameters& p, bool training = true) {
  return ops::batch_norm(x, p.mean, p.variance, p.weight, p.bias, training, 0.1, 1e-5);
}

TEST_F(BatchNormEvents, CudnnKeepsMeanAndInverseDeviation) {
  const NormParameters p = norm_parameters(16);
  const Tensor x = leaf({16, 16, 10, 10});
  EXPECT_EQ(events(), "+1:64 +2:64 +3:64 +4:64 +5:102400");
  const Tensor out = normalise(x, p);
  EXPECT_EQ(events(), "+6:102400 +7:64 +8:64");
  EXPECT_EQ(backward_events(out), "+10:102400 +11:64 +12:64 -7 -8");
}

TEST_F(BatchNormEvents, CudnnKeepsNoStatisticsInEvaluation) {
  const NormParameters p = norm_parameters(16);
  const Tensor x = leaf({16, 16, 10, 10});
  events();
  const Tensor out = normalise(x, p, false);
  EXPECT_EQ(events(), "+6:102400");
  EXPECT_EQ(backward_events(out), "+8:102400 +9:64 +10:64");
}

TEST_F(BatchNormEvents, TwoDimensionsGoThroughSumsOfEachChannel) {
  const NormParameters p = norm_parameters(kN);
  const Tensor x = leaf({kN, kN});
  EXPECT_EQ(events(), "+1:640 +2:640 +3:640 +4:640 +5:102400");
  const Tensor out = normalise(x, p);
  EXPECT_EQ(events(), "+6:102400 +7:640 +8:640");
  EXPECT_EQ(backward_events(out), "+10:640 +11:640 +12:640 +13:640 +14:102400 -11 -10 -7 -8");
}

TEST_F(BatchNormEvents, TwoDimensionsKeepStatisticsInEvaluationToo) {
  const NormParameters p = norm_parameters(kN);
  const Tensor x = leaf({kN, kN});
  events();
  const Tensor out = normalise(x, p, false);
  EXPECT_EQ(events(), "+6:102400 +7:640 +8:640");
  EXPECT_EQ(backward_events(out), "+10:640 +11:640 +12:640 +13:640 +14:102400 -11 -10 -7 -8");
}

TEST_F(BatchNormEvents, WithoutCudnnThreeDimensionsGoThroughOneKernel) {
  context().cudnn_enabled = false;
  const NormParameters p = norm_parameters(64);
  const Tensor x = leaf({16, 64, 25});
  events();
  const Tensor out = normalise(x, p);
  EXPECT_EQ(events(), "+6:102400 +7:256 +8:256");
  EXPECT_EQ(backward_events(out), "+10:102400 +11:256 +12:256 -7 -8");
}

TEST_F(BatchNormEvents, ManyRowsMeetInStagingMemory) {
  const NormParameters p = norm_parameters(64);
  const Tensor x = leaf({4096, 64});
  events();
  const Tensor out = normalise(x, p);
  // 16 blocks of 16 × 16 rows: four values for each channel and block, one semaphore for 32
  // channels.
  EXPECT_EQ(events(), "+6:1048576 +7:256 +8:256 +9:16384 +10:8 -10 -9");
  EXPECT_EQ(backward_events(out),
            "+12:256 +13:256 +14:256 +15:256 +16:8192 +17:8 -17 -16 +18:1048576 -13 -12 -7 -8");
}

TEST_F(BatchNormEvents, HalfPrecisionKeepsFloat32Statistics) {
  const NormParameters p = norm_parameters(16, DType::float16);
  const Tensor x = leaf({16, 16, 10, 10}, DType::float16);
  EXPECT_EQ(events(), "+1:32 +2:32 +3:32 +4:32 +5:51200");
  const Tensor out = normalise(x, p);
  EXPECT_EQ(events(), "+6:51200 +7:64 +8:64");
  EXPECT_EQ(backward_events(out), "+10:51200 +11:32 +12:32 -7 -8");
}

TEST_F(LayerNormEvents, KeepsMeanAndInverseDeviationOfEachRow) {
  const Tensor weight = leaf({256});
  const Tensor bias = leaf({256});
  const Tensor x = leaf({100, 256});
  EXPECT_EQ(events(), "+1:1024 +2:1024 +3:102400");
  const Tensor out = ops::layer_norm(x, {256}, weight, bias, 1e-5);
  EXPECT_EQ(events(), "+4:102400 +5:400 +6:400");
  EXPECT_EQ(backward_events(out), "+8:102400 +9:1024 +10:1024 -5 -6");
}

TEST_F(LayerNormEvents, KeepsFloat32StatisticsOfHalfPrecisionRows) {
  const Tensor x = leaf({100, 256}, DType::float16);
  const Tensor out = ops::layer_norm(x, {256}, std::nullopt, std::nullopt, 1e-5);
  EXPECT_EQ(events(), "+1:51200 +2:51200 +3:400 +4:400");
  EXPECT_EQ(backward_events(out), "+6:51200 -3 -4");
}

TEST_F(DropoutEvents, KeepsAMaskOfOneByteForEachElement) {
  const Tensor x = leaf({kN, kN});
  const Tensor out = ops::dropout(x, 0.5, true);
  EXPECT_EQ(events(), "+1:102400 +2:25600 +3:102400");
  EXPECT_EQ(backward_events(out), "+5:102400 -2");
}

TEST_F(DropoutEvents, DropsTheMaskAtOnceWithoutAGraph) {
  const Tensor x = input({kN, kN});
  const Tensor out = ops::dropout(x, 0.5, true);
  EXPECT_EQ(events(), "+1:102400 +2:25600 +3:102400 -2");
}

TEST_F(DropoutEvents, ReturnsItsInputWithoutTrainingAndForProbabilityZero) {
  const Tensor x = input({kN, kN});
  EXPECT_TRUE(ops::dropout(x, 0.5, false).is_same(x));
  EXPECT_TRUE(ops::dropout(x, 0.0, true).is_same(x));
  EXPECT_EQ(events(), "+1:102400");
}

TEST_F(DropoutEvents, CertainDropoutMultipliesByAZero) {
  const Tensor x = leaf({kN, kN});
  events();
  Tensor product = ops::mul(x, 1.0);
  const Tensor out = ops::dropout(product, 1.0, true);
  product = Tensor();
  EXPECT_EQ(events(), "+2:102400 +3:4 +4:102400 -2");
  EXPECT_EQ(backward_events(out), "+6:102400 -3 +7:102400 -6");
}

TEST_F(DropoutEvents, InPlaceKeepsNoiseOfTheInputsSize) {
  const Tensor x = leaf({kN, kN});
  const Tensor product = ops::mul(x, 1.0);
  events();
  const Tensor out = ops::dropout_(product, 0.5, true);
  EXPECT_EQ(events(), "+3:102400");
  EXPECT_TRUE(out.is_same(product));
}

TEST_F(EmbeddingEvents, FewIndicesNeedNoTemporaries) {
  const Tensor weight = leaf({4096, 64});
  const Tensor indices = zeros({4, 256}, on_gpu(DType::int64));
  const Tensor out = ops::embedding(indices, weight, std::nullopt);
  EXPECT_EQ(events(), "+1:1048576 +2:8192 +3:262144");
  EXPECT_EQ(backward_events(out), "+5:1048576");
}

TEST_F(EmbeddingEvents, ManyIndicesAreSortedFirst) {
  const Tensor weight = leaf({kN, 256});
  const Tensor indices = zeros({4096}, on_gpu(DType::int64));
  const Tensor out = ops::embedding(indices, weight, std::nullopt);
  EXPECT_EQ(events(), "+1:163840 +2:32768 +3:4194304");
  EXPECT_EQ(backward_events(out),
            "+5:32768 +6:32768 +7:32768 +8:84479 -8 -7 +9:163840 +10:32768 +11:8 +12:32768 +13:767 "
            "-13 -12 +14:1280 +15:1280 +16:1023 -16 +17:8 +18:4552 +19:582656 "
            "-19 -18 -17 -15 -14 -11 -10 -6 -5");
}

TEST_F(EmbeddingEvents, SortingTakesLessOnHopper) {
  context().gpus[0].compute_capability = {9, 0};
  const Tensor weight = leaf({kN, 256});
  const Tensor indices = zeros({4096}, on_gpu(DType::int64));
  const Tensor out = ops::embedding(indices, weight, std::nullopt);
  events();
  EXPECT_THAT(backward_events(out), testing::HasSubstr(" +8:83455 "));
}

}  // namespace
}  // namespace ohm::test
