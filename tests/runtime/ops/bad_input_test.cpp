// What ops say to arguments that make no sense: std::invalid_argument with the op in brackets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "runtime/arithmetic/factories.h"
#include "runtime/ops/activation/softmax.h"
#include "runtime/ops/conversion/convert.h"
#include "runtime/ops/convolution/conv.h"
#include "runtime/ops/convolution/sequence.h"
#include "runtime/ops/embedding/embedding.h"
#include "runtime/ops/indexing/indexing.h"
#include "runtime/ops/indexing/scatter.h"
#include "runtime/ops/loss/loss_bce.h"
#include "runtime/ops/loss/loss_cross_entropy.h"
#include "runtime/ops/loss/loss_distance.h"
#include "runtime/ops/loss/loss_nll.h"
#include "runtime/ops/matmul/einsum.h"
#include "runtime/ops/matmul/matmul.h"
#include "runtime/ops/matmul/vector_product.h"
#include "runtime/ops/normalization/batch_norm.h"
#include "runtime/ops/normalization/layer_norm.h"
#include "runtime/ops/op_list.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/pointwise/comparison.h"
#include "runtime/ops/pointwise/inplace_binary.h"
#include "runtime/ops/pooling/average_pool.h"
#include "runtime/ops/pooling/max_pool.h"
#include "runtime/ops/random/dropout.h"
#include "runtime/ops/reduction/extremum.h"
#include "runtime/ops/reduction/product.h"
#include "runtime/ops/shape/concat.h"
#include "runtime/ops/shape/slice.h"
#include "runtime/ops/shape/view.h"
#include "runtime/ops/sorting/order_statistics.h"
#include "runtime/ops/sorting/sorting.h"
#include "tests/support/op_samples.h"
#include "tests/support/test_machine.h"

namespace ohm::test {
namespace {

using ops::Reduction;

constexpr std::nullopt_t kNone = std::nullopt;
constexpr std::int64_t kHuge = std::int64_t{1} << 62;

Tensor floats(const Shape& shape) { return ones(shape, {DType::float32, Device::cuda(0)}); }
Tensor halves(const Shape& shape) { return ones(shape, {DType::float16, Device::cuda(0)}); }
Tensor indices(const Shape& shape, double value = 0) {
  return full(shape, value, {DType::int64, Device::cuda(0)});
}

struct BadCall {
  const char* name;
  std::function<Tensor()> call;
  const char* message;  ///< a part of it
};

const std::vector<BadCall>& bad_calls() {
  static const std::vector<BadCall> calls = {
      {"SoftmaxOfIntegers",
       [] {
         return ops::softmax(indices({2, 3}), 1, kNone);
       },
       "[softmax] not implemented for int64"},
      {"BatchesOfIntegersAndABias",
       [] {
         return ops::baddbmm(indices({1, 2, 2}), indices({1, 2, 2}), indices({1, 2, 2}), 1.0, 1.0);
       },
       "[baddbmm] not implemented for int64"},
      {"SoftmaxOfAMissingDimension",
       [] {
         return ops::softmax(floats({2, 3}), 2, kNone);
       },
       "[softmax] "},
      {"MseOfShapesThatDoNotBroadcast",
       [] {
         return ops::mse_loss(floats({2, 3}), floats({4}), Reduction::mean);
       },
       "[mse_loss] "},
      {"SmoothL1WithoutAnEdge",
       [] { return ops::smooth_l1_loss(floats({2}), floats({2}), Reduction::mean, 0.0); },
       "[smooth_l1_loss] beta must be positive"},
      {"BceOfTwoShapes",
       [] {
         return ops::binary_cross_entropy(floats({2, 3}), floats({3}), kNone, Reduction::mean);
       },
       "[binary_cross_entropy] target size [3] must be the same as input size [2, 3]"},
      {"AnUnknownReduction", [] { return floats({1 + int(ops::parse_reduction("average"))}); },
       "'average' is not a valid value for reduction"},
      {"CrossEntropyOfTheWrongTargets",
       [] {
         return ops::cross_entropy(floats({4, 3}), indices({3}), kNone, -100, Reduction::mean);
       },
       "[nll_loss] an input of shape [4, 3] expects a target of shape [4], but got [3]"},
      {"CrossEntropyOfFloatTargets",
       [] {
         return ops::cross_entropy(floats({4, 3}), floats({4}), kNone, -100, Reduction::mean);
       },
       "expected int64, not float32"},
      {"CrossEntropyOfAClassThatDoesNotExist",
       [] {
         return ops::cross_entropy(floats({4, 3}), indices({4}, 3), kNone, -100, Reduction::mean);
       },
       "target 3 is out of bounds: there are 3 classes"},
      {"CrossEntropyWithTheWrongWeights",
       [] {
         return ops::cross_entropy(floats({4, 3}), indices({4}), floats({2}), -100,
                                   Reduction::mean);
       },
       "weight must have one value for each class, shape [3], but got [2]"},
      {"ConvOfTheWrongChannels",
       [] {
         return ops::conv2d(floats({1, 3, 5, 5}), floats({4, 2, 3, 3}), kNone, {1}, {0}, {1}, 1);
       },
       "[conv2d] Given groups=1, weight of size [4, 2, 3, 3], expected input[1, 3, 5, 5] to have 2 "
       "channels, but got 3 channels instead"},
      {"ConvOfAnImageSmallerThanTheKernel",
       [] {
         return ops::conv2d(floats({1, 3, 2, 2}), floats({4, 3, 3, 3}), kNone, {1}, {0}, {1}, 1);
       },
       "Kernel size can't be greater than actual input size"},
      {"ConvOfTwoDtypes",
       [] {
         return ops::conv2d(halves({1, 3, 5, 5}), floats({4, 3, 3, 3}), kNone, {1}, {0}, {1}, 1);
       },
       "Input type (HalfTensor) and weight type (FloatTensor) should be the same"},
      {"ConvWithoutAStep",
       [] {
         return ops::conv2d(floats({1, 3, 5, 5}), floats({4, 3, 3, 3}), kNone, {0}, {0}, {1}, 1);
       },
       "[conv2d] stride must be one or two integers of at least 1, but got [0]"},
      {"ConvInGroupsThatDoNotDivide",
       [] {
         return ops::conv2d(floats({1, 4, 5, 5}), floats({4, 2, 3, 3}), kNone, {1}, {0}, {1}, 3);
       },
       "[conv2d] groups must divide the 4 channels of the weight's first dimension, but got 3"},
      {"PoolingWithTooMuchPadding",
       [] {
         return ops::max_pool2d(floats({1, 1, 4, 4}), {2}, kNone, {2}, {1}, false);
       },
       "[max_pool2d] pad should be at most half of effective kernel size"},
      {"PoolingOfAVector",
       [] { return ops::avg_pool2d(floats({4}), {2}, kNone, {0}, false, true, kNone); },
       "[avg_pool2d] expected [N, C, H, W] or [C, H, W] with pixels, but got [4]"},
      {"PoolingOverMoreThanTheImage",
       [] {
         return ops::max_pool2d(floats({1, 1, 2, 2}), {3}, kNone, {0}, {1}, false);
       },
       "[max_pool2d] a window of 3 does not fit into 2 padded elements"},
      {"PoolingDividedByZero",
       [] {
         return ops::avg_pool2d(floats({1, 4, 4}), {2}, kNone, {0}, false, true, 0);
       },
       "[avg_pool2d] divisor must be not zero"},
      {"BatchNormOfOneValueInTraining",
       [] {
         return ops::batch_norm(floats({1, 3}), kNone, kNone, kNone, kNone, true, 0.1, 1e-5);
       },
       "Expected more than 1 value per channel when training, got input size [1, 3]"},
      {"BatchNormWithoutStatisticsInEvaluation",
       [] {
         return ops::batch_norm(floats({2, 3}), kNone, kNone, kNone, kNone, false, 0.1, 1e-5);
       },
       "[batch_norm] expected running_mean and running_var"},
      {"BatchNormOfTheWrongChannels",
       [] {
         return ops::batch_norm(floats({2, 3}), kNone, kNone, floats({2}), floats({2}), true, 0.1,
                                1e-5);
       },
       "must have 3 elements, one for each channel of [2, 3], but got [2]"},
      {"LayerNormOfTheWrongShape",
       [] {
         return ops::layer_norm(floats({2, 3}), {4}, kNone, kNone, 1e-5);
       },
       "[layer_norm] Given normalized_shape=[4], expected input with shape [*, 4], but got input "
       "of "
       "size [2, 3]"},
      {"DropoutWithAProbabilityAboveOne", [] { return ops::dropout(floats({2}), 1.5, true); },
       "[dropout] dropout probability has to be between 0 and 1, but got 1.5"},
      {"EmbeddingOutsideTheTable",
       [] {
         return ops::embedding(indices({2}, 5), floats({5, 3}), kNone);
       },
       "[embedding] index 5 is out of bounds for a size of 5"},
      {"EmbeddingOfFloats",
       [] {
         return ops::embedding(floats({2}), floats({5, 3}), kNone);
       },
       "[embedding] expected indices of dtype int64 or int32, not float32"},
      {"ATensorOf2To62Elements", [] { return floats({kHuge}); },
       "the bytes of a float32 tensor of shape [4611686018427387904] do not fit in 64 bits"},
      {"SizesWhoseProductWrapsToASmallNumber",
       [] {
         return floats({kHuge, 4, 3});
       },
       "the number of elements of [4611686018427387904, 4, 3] does not fit in 64 bits"},
      {"AnEmptyTensorWhoseStridesWrap",
       [] {
         return floats({0, kHuge, kHuge});
       },
       "the strides of [0, 4611686018427387904, 4611686018427387904] do not fit in 64 bits"},
      {"ANegativeSize",
       [] {
         return floats({2, -1});
       },
       "trying to create a tensor with negative dimension -1: [2, -1]"},
      {"ATensorOnAGpuThatDoesNotExist",
       [] {
         return ones({1}, {DType::float32, Device::cuda(7)});
       },
       "cuda:7 does not exist: this machine has 1 GPU"},
      {"AnExpansionTo2To64Elements",
       [] {
         return ops::expand(floats({1, 1}), {kHuge, 4});
       },
       "[expand] the number of elements of [4611686018427387904, 4] does not fit in 64 bits"},
      {"ASumOfTwoHugeShapes",
       [] { return ops::add(ops::expand(floats({1}), {kHuge}), floats({1})); },
       "[add] the bytes of a float32 tensor of shape [4611686018427387904] do not fit in 64 bits"},
      {"APieceForEveryElementOfAHugeTensor",
       [] { return ops::split(ops::expand(floats({1}), {kHuge}), 1, 0)[0]; },
       "[split] 4611686018427387904 pieces are too many"},
      {"AProductOfAMissingDimension",
       [] {
         return ops::prod(floats({2, 3}), 2, false);
       },
       "[prod] "},
      {"TheLargestOfNothing",
       [] {
         return ops::amax(floats({0, 3}), kNone, false);
       },
       "[amax] expected reduction dim 0 to have non-zero size"},
      {"ADotOfTwoLengths", [] { return ops::dot(floats({2}), floats({3})); },
       "[dot] shapes do not fit: [2] and [3]"},
      {"AVectorThatDoesNotFitItsMatrix",
       [] {
         return ops::mv(floats({2, 3}), floats({2}));
       },
       "[mv] shapes do not fit: [2, 3] and [2]"},
      {"AnEquationWithAnUnknownLetter",
       [] {
         return ops::einsum("ij->k", {floats({2, 3})});
       },
       "[einsum] \"ij->k\": 'k' stands behind the arrow alone"},
      {"AnEquationWithALetterTwiceInItsResult",
       [] {
         return ops::einsum("ij->ii", {floats({2, 2})});
       },
       "[einsum] \"ij->ii\": 'i' stands twice behind the arrow"},
      {"AnEquationWithADiagonalOfTwoSizes",
       [] {
         return ops::einsum("ii->i", {floats({2, 3})});
       },
       "[einsum] \"ii->i\": 'i' is 2 and 3"},
      {"AnEquationOfTooManyLetters",
       [] {
         return ops::einsum("abcde,fghij", {floats({1, 1, 1, 1, 1}), floats({1, 1, 1, 1, 1})});
       },
       "[einsum] \"abcde,fghij\": has 10 letters, more than 8"},
      {"AnEquationWhoseSizesDiffer",
       [] {
         return ops::einsum("ij,jk->ik", {floats({2, 3}), floats({4, 2})});
       },
       "[einsum] \"ij,jk->ik\": 'j' is 3 and 4"},
      {"AScatterOfTooFew",
       [] {
         return ops::scatter(floats({2, 3}), 1, indices({2, 2}), floats({2, 1}));
       },
       "[scatter] a source of float32 [2, 1]"},
      {"AnAdditionToAMissingRow",
       [] {
         return ops::index_add(floats({2, 3}), 0, indices({1}, 2), floats({1, 3}), 1.0);
       },
       "[index_add] index 2 is out of bounds for a size of 2"},
      {"AGatherFromTheEnd",
       [] {
         return ops::gather(floats({2, 3}), 1, indices({2, 1}, -1));
       },
       "[gather] index -1 is out of bounds for a size of 3"},
      {"AWriteToAnExpandedTensor",
       [] { return ops::add_(ops::expand(floats({1}), {3}), floats({3}), 1.0); },
       "more than one element of the written-to tensor refers to a single memory location"},
      {"AnAdditionOfATransposeInPlace",
       [] {
         const Tensor square = floats({2, 2});
         return ops::add_(square, ops::transpose(square, 0, 1), 1.0);
       },
       "some elements of the input tensor and the written-to tensor refer to a single memory"},
      {"ACopyToTheNextElements",
       [] {
         const Tensor line = floats({4});
         return ops::copy_(ops::narrow(line, 0, 1, 3), ops::narrow(line, 0, 0, 3));
       },
       "some elements of the input tensor and the written-to tensor refer to a single memory"},
      {"ACatOfAScalar",
       [] {
         return ops::cat({floats({2}), floats({})}, 0);
       },
       "[cat] zero-dimensional tensors cannot be concatenated"},
      {"OneHotOfANegativeClass", [] { return ops::one_hot(indices({2}, -1), 3); },
       "[one_hot] index -1 is out of bounds for a size of 3"},
      {"OneHotOfNothingWithoutClasses", [] { return ops::one_hot(indices({0}, 0), -1); },
       "[one_hot] cannot infer the number of classes from an empty tensor"},
      {"ArgmaxOfAMask", [] { return ops::argmax(ops::gt(floats({3}), 0.0), {}, false); },
       "[argmax] does not support bool input"},
      {"TopkOfAMask", [] { return ops::topk(ops::gt(floats({3}), 0.0), 1, 0, true).first; },
       "[topk] does not support bool input"},
      {"TheNegativeOfAMask", [] { return ops::neg(ops::gt(floats({3}), 0.0)); },
       "[neg] Negation, the `-` operator, on a bool tensor is not supported"},
      {"KthvalueOfAMask",
       [] { return ops::kthvalue(ops::gt(floats({3}), 0.0), 1, 0, false).first; },
       "[kthvalue] not implemented for bool"},
      {"AConvolutionOfAMatrixOfFilters",
       [] {
         return ops::conv1d(floats({2, 3, 8}), floats({4, 3}), kNone, {1}, {0}, {1}, 1);
       },
       "[conv1d] 'weight' must be [out, in, k], but got [4, 3]"},
      {"PoolingAnImageAsALine",
       [] {
         return ops::avg_pool1d(floats({1, 2, 3, 4}), {2}, kNone, {0}, false, true);
       },
       "[avg_pool1d] expected [N, C, L] or [C, L], but got [1, 2, 3, 4]"},
      {"ACopyOfMoreThanFits",
       [] {
         return ops::copy_(floats({1}), floats({2, 3}));
       },
       "[copy_] a source of shape [2, 3] does not fit into [1]"},
  };
  return calls;
}

class BadCallTest : public testing::TestWithParam<BadCall> {
 private:
  TestMachine machine_{{.values = ValueMode::keeps_values}};
};

TEST_P(BadCallTest, IsAnsweredWithItsReason) {
  EXPECT_THAT([] { GetParam().call(); }, testing::ThrowsMessage<std::invalid_argument>(
                                             testing::HasSubstr(GetParam().message)));
}

INSTANTIATE_TEST_SUITE_P(Ops, BadCallTest, testing::ValuesIn(bad_calls()),
                         [](const auto& instance) { return std::string(instance.param.name); });

std::vector<std::string> ops_of_several_tensors() {
  std::vector<std::string> names;
  for (const ops::OpDef& op : ops::all_ops()) {
    int tensors = 0;
    for (const ops::Param& param : op.params) {
      if (param.kind == ops::ParamKind::tensor && !param.is_optional) ++tensors;
      if (param.kind == ops::ParamKind::tensor_list) tensors += 2;
    }
    // The lengths of sequences are read on the host, wherever they are.
    const bool reads_anywhere = op.info.name == "ctc_loss";
    if (tensors >= 2 && has_samples(op) && !reads_anywhere) names.emplace_back(op.info.name);
  }
  return names;
}

class TwoDevices : public testing::TestWithParam<std::string> {
 private:
  TestMachine machine_{{.gpus = 2, .values = ValueMode::keeps_values}};
};

// The last tensor of the sample, or of its list, moves to the second GPU.
Sample torn_apart(const Sample& sample) {
  Sample here = converted(sample, DType::float32, Device::cuda(0));
  const Sample there = converted(sample, DType::float32, Device::cuda(1));
  for (std::size_t i = here.size(); i-- > 0;) {
    if (std::holds_alternative<Tensor>(here[i])) {
      here[i] = there[i];
      break;
    }
    if (auto* list = std::get_if<std::vector<Tensor>>(&here[i])) {
      list->back() = std::get<std::vector<Tensor>>(there[i]).back();
      break;
    }
  }
  return here;
}

TEST_P(TwoDevices, AreRefusedByName) {
  const ops::OpDef& op = *ops::find_op(GetParam());
  const Sample sample = torn_apart(samples_of(op)[0]);
  EXPECT_THAT([&] { call_op(op, sample); },
              testing::ThrowsMessage<std::invalid_argument>(
                  testing::AllOf(testing::HasSubstr("cuda:0"), testing::HasSubstr("cuda:1"))));
}

INSTANTIATE_TEST_SUITE_P(AllOps, TwoDevices, testing::ValuesIn(ops_of_several_tensors()),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace ohm::test
