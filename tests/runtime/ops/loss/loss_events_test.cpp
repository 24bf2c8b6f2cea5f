// What softmax and the losses allocate and free, in PyTorch's order: sequences of PyTorch 2.6.0
// for the same programs on 160 × 160 tensors.
#include "runtime/autograd/autocast_guard.h"
#include "runtime/ops/activation/softmax.h"
#include "runtime/ops/loss/loss_bce.h"
#include "runtime/ops/loss/loss_cross_entropy.h"
#include "runtime/ops/loss/loss_distance.h"
#include "runtime/ops/loss/loss_nll.h"
#include "runtime/ops/op_front.h"
#include "tests/support/op_events.h"

namespace ohm::test {
namespace {

using ops::Reduction;

constexpr std::int64_t kItems = 160;
constexpr std::int64_t kIgnoreIndex = -100;

class SoftmaxEvents : public OpEvents {};
class LossEvents : public OpEvents {};

TEST_F(SoftmaxEvents, BackwardOfSoftmaxTakesOneTemporaryOfTheGradientsSize) {
  const Tensor x = leaf({kItems, kItems});
  EXPECT_EQ(events(), "+1:102400");
  const Tensor out = ops::softmax(x, -1, std::nullopt);
  EXPECT_EQ(events(), "+2:102400");
  EXPECT_EQ(backward_events(out), "+4:102400 +5:102400 -5");
}

TEST_F(SoftmaxEvents, BackwardOfLogSoftmaxTakesNoTemporary) {
  const Tensor x = leaf({kItems, kItems});
  const Tensor out = ops::log_softmax(x, -1, std::nullopt);
  EXPECT_EQ(events(), "+1:102400 +2:102400");
  EXPECT_EQ(backward_events(out), "+4:102400");
}

TEST_F(SoftmaxEvents, Float16IsReadWithoutACastCopyWhereTheResultIsFloat32) {
  const Tensor x = leaf({kItems, kItems}, DType::float16);
  const Tensor out = ops::softmax(x, -1, DType::float32);
  EXPECT_EQ(events(), "+1:51200 +2:102400");
  EXPECT_EQ(backward_events(out), "+4:51200 +5:102400 -5");
}

TEST_F(SoftmaxEvents, AutocastAsksForAFloat32Result) {
  const Tensor x = input({kItems, kItems}, DType::float16);
  const AutocastGuard autocast(true, DType::float16);
  EXPECT_EQ(ops::softmax(x, -1, std::nullopt).dtype(), DType::float32);
}

TEST_F(LossEvents, CrossEntropyKeepsTheLogProbabilitiesAndTheTotalWeight) {
  const Tensor x = leaf({kItems, kItems});
  const Tensor y = zeros({kItems}, on_gpu(DType::int64));
  EXPECT_EQ(events(), "+1:102400 +2:1280");
  const Tensor loss = ops::cross_entropy(x, y, std::nullopt, kIgnoreIndex, Reduction::mean);
  EXPECT_EQ(events(), "+3:102400 +4:4 +5:4");
  EXPECT_EQ(scalar_backward_events(loss), "+6:4 +7:102400 -5 +8:102400 -7 -3 -6");
}

TEST_F(LossEvents, CrossEntropyOfImagesMakesTheTotalWeightBeforeTheLoss) {
  const Tensor x = leaf({4, 64, 100});
  const Tensor y = zeros({4, 100}, on_gpu(DType::int64));
  EXPECT_EQ(events(), "+1:102400 +2:3200");
  const Tensor loss = ops::cross_entropy(x, y, std::nullopt, kIgnoreIndex, Reduction::mean);
  EXPECT_EQ(events(), "+3:102400 +4:4 +5:4");
  EXPECT_EQ(scalar_backward_events(loss), "+6:4 +7:102400 -4 +8:102400 -7 -3 -6");
}

TEST_F(LossEvents, UnreducedCrossEntropyHasOneLossForEachSample) {
  const Tensor x = leaf({kItems, kItems});
  const Tensor y = zeros({kItems}, on_gpu(DType::int64));
  events();
  const Tensor losses = ops::cross_entropy(x, y, std::nullopt, kIgnoreIndex, Reduction::none);
  EXPECT_EQ(events(), "+3:102400 +4:640 +5:4");
  EXPECT_EQ(backward_events(losses), "+7:102400 -5 +8:102400 -7 -3");
}

TEST_F(LossEvents, CrossEntropyOfHalfLogitsUnderAutocastKeepsAFloat32CopyToo) {
  const Tensor x = leaf({kItems, kItems}, DType::float16);
  const Tensor y = zeros({kItems}, on_gpu(DType::int64));
  events();
  const AutocastGuard autocast(true, DType::float16);
  const Tensor loss = ops::cross_entropy(x, y, std::nullopt, kIgnoreIndex, Reduction::mean);
  EXPECT_EQ(events(), "+3:51200 +4:102400 +5:4 +6:4");
  EXPECT_EQ(loss.dtype(), DType::float32);
}

TEST_F(LossEvents, MseLossOwnsAStorageOfThePredictionsSize) {
  const Tensor x = leaf({kItems, kItems});
  const Tensor y = leaf({kItems, kItems});
  EXPECT_EQ(events(), "+1:102400 +2:102400");
  Tensor loss = ops::mse_loss(x, y, Reduction::mean);
  EXPECT_EQ(events(), "+3:102400 +4:102400 -4");
  EXPECT_EQ(loss.shape(), Shape());
  EXPECT_EQ(scalar_backward_events(loss), "+5:4 +6:102400 +7:102400 -5");
  loss = Tensor();
  EXPECT_EQ(events(), "-3");
}

TEST_F(LossEvents, UnreducedMseLossMakesNoTemporary) {
  const Tensor x = leaf({kItems, kItems});
  const Tensor t = input({kItems, kItems});
  const Tensor losses = ops::mse_loss(x, t, Reduction::none);
  EXPECT_EQ(events(), "+1:102400 +2:102400 +3:102400");
  EXPECT_EQ(backward_events(losses), "+5:102400");
}

TEST_F(LossEvents, SmoothL1LossOwnsAStorageOfThePredictionsSize) {
  const Tensor x = leaf({kItems, kItems});
  const Tensor t = input({kItems, kItems});
  events();
  Tensor loss = ops::smooth_l1_loss(x, t, Reduction::mean, 1.0);
  EXPECT_EQ(events(), "+3:102400 +4:102400 -4");
  EXPECT_EQ(scalar_backward_events(loss), "+5:4 +6:102400 -5");
  loss = Tensor();
  EXPECT_EQ(events(), "-3");
}

TEST_F(LossEvents, HuberLossOwnsOneElement) {
  const Tensor x = leaf({kItems, kItems});
  const Tensor t = input({kItems, kItems});
  events();
  const Tensor loss = ops::huber_loss(x, t, Reduction::mean, 1.0);
  EXPECT_EQ(events(), "+3:102400 +4:4 -3");
  EXPECT_EQ(scalar_backward_events(loss), "+5:4 +6:102400 -5");
}

TEST_F(LossEvents, L1LossKeepsTheDifference) {
  const Tensor x = leaf({kItems, kItems});
  const Tensor t = input({kItems, kItems});
  events();
  const Tensor loss = ops::l1_loss(x, t, Reduction::mean);
  EXPECT_EQ(events(), "+3:102400 +4:102400 +5:4 -4");
  EXPECT_EQ(scalar_backward_events(loss), "+6:4 +7:102400 +8:102400 +9:102400 -8 -7 -3 -6");
}

TEST_F(LossEvents, BinaryCrossEntropyOwnsAStorageOfThePredictionsSize) {
  const Tensor x = leaf({kItems, kItems});
  const Tensor t = input({kItems, kItems});
  events();
  const Tensor loss = ops::binary_cross_entropy(x, t, std::nullopt, Reduction::mean);
  EXPECT_EQ(events(), "+3:102400 +4:4 -4");
  EXPECT_EQ(scalar_backward_events(loss), "+5:4 +6:102400 -5");
}

TEST_F(LossEvents, BinaryCrossEntropyWithLogitsFreesBothTemporariesAfterTheMean) {
  const Tensor x = leaf({kItems, kItems});
  const Tensor t = input({kItems, kItems});
  events();
  const Tensor loss =
      ops::binary_cross_entropy_with_logits(x, t, std::nullopt, Reduction::mean, std::nullopt);
  EXPECT_EQ(events(), "+3:102400 +4:102400 +5:4 -4 -3");
  EXPECT_EQ(scalar_backward_events(loss), "+6:4 +7:102400 -6");
}

TEST_F(LossEvents, MseLossUnderAutocastKeepsTheFloat32Cast) {
  const Tensor h = leaf({kItems, kItems}, DType::float16);
  const Tensor t = input({kItems, kItems});
  events();
  Tensor loss;
  {
    const AutocastGuard autocast(true, DType::float16);
    loss = ops::mse_loss(h, t, Reduction::mean);
  }
  EXPECT_EQ(events(), "+3:102400 +4:102400 +5:102400 -5");
  EXPECT_EQ(scalar_backward_events(loss), "+6:4 +7:102400 -3 +8:51200 -7 -6");
}

// Reductions of 131,072 elements and more to one take scratch: 512 B and a semaphore on an A100.
TEST_F(LossEvents, LargeMeansTakeScratchWhileTheLossesLive) {
  const Tensor x = leaf({1024, 1024});
  const Tensor t = input({1024, 1024});
  events();
  const Tensor mse = ops::mse_loss(x, t, Reduction::mean);
  EXPECT_EQ(events(), "+3:4194304 +4:4194304 +5:512 +6:4 -6 -5 -4");
  const Tensor huber = ops::huber_loss(x, t, Reduction::mean, 1.0);
  EXPECT_EQ(events(), "+7:4194304 +8:4 +9:512 +10:4 -10 -9 -7");
  const Tensor l1 = ops::l1_loss(x, t, Reduction::mean);
  EXPECT_EQ(events(), "+11:4194304 +12:4194304 +13:4 +14:512 +15:4 -15 -14 -12");
  const Tensor bce = ops::binary_cross_entropy(x, t, std::nullopt, Reduction::mean);
  EXPECT_EQ(events(), "+16:4194304 +17:4 +18:512 +19:4 -19 -18 -17");
  const Tensor logits =
      ops::binary_cross_entropy_with_logits(x, t, std::nullopt, Reduction::mean, std::nullopt);
  EXPECT_EQ(events(), "+20:4194304 +21:4194304 +22:4 +23:512 +24:4 -24 -23 -21 -20");
}

TEST_F(LossEvents, BinaryCrossEntropyIsRefusedUnderAutocast) {
  const Tensor x = input({kItems});
  const AutocastGuard autocast(true, DType::float16);
  EXPECT_THROW(ops::binary_cross_entropy(x, x, std::nullopt, Reduction::mean),
               std::invalid_argument);
}

}  // namespace
}  // namespace ohm::test
