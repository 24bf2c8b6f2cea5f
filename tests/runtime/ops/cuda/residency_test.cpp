// Where ops on a real card compute: with values that are on the card alone, no op with samples asks
// for them on the host, forwards or backwards.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/engine.h"
#include "runtime/kernels/cuda/kernel_module.h"
#include "runtime/ops/op_list.h"
#include "tests/support/counting_machine.h"
#include "tests/support/op_samples.h"

namespace ohm::test {
namespace {

void call_with_gradients(const ops::OpDef& op, const Sample& sample) {
  require_gradients(op, sample);
  std::vector<Tensor> roots;
  std::vector<Tensor> root_grads;
  for (const Tensor& result : tensors_in(call_op(op, sample))) {
    if (!result.defined() || !result.requires_grad()) continue;
    roots.push_back(result);
    root_grads.push_back(rand(result.shape(), options_of(result)));
  }
  if (!roots.empty()) backward(roots, root_grads, GraphRetention::release);
}

/// With values that the host knows nothing of.
Sample on_cuda(const Sample& sample) {
  Sample result = converted(sample, DType::float32, Device::cuda(0));
  for (const ops::Value& value : result) {
    for (const Tensor& tensor : tensors_in(value)) {
      if (tensor.cuda_backend() != nullptr) tensor.cuda_address(CudaAccess::write);
    }
  }
  return result;
}

/// What came to the host while every sample was computed.
std::string moved_by(const ops::OpDef& op) {
  CountingMachine machine;
  for (const Sample& sample : samples_of(op)) {
    call_with_gradients(op, on_cuda(sample));
  }
  return machine.moved();
}

class OpOnCuda : public testing::TestWithParam<std::string> {};

/// Have no kernel for cards: the host computes them.
const std::set<std::string> kOnHost = {"_weight_norm",
                                       "addbmm",
                                       "adaptive_avg_pool3d",
                                       "adaptive_max_pool1d",
                                       "adaptive_max_pool2d",
                                       "addmv",
                                       "addr",
                                       "as_strided",
                                       "avg_pool3d",
                                       "cdist",
                                       "conv3d",
                                       "conv_transpose3d",
                                       "cross",
                                       "ctc_loss",
                                       "cummax",
                                       "cummin",
                                       "cumprod",
                                       "embedding_bag",
                                       "fold",
                                       "gaussian_nll_loss",
                                       "grid_sample",
                                       "im2col",
                                       "index_put",
                                       "index_reduce",
                                       "kthvalue",
                                       "local_response_norm",
                                       "logcumsumexp",
                                       "masked_scatter",
                                       "masked_select",
                                       "max_pool3d",
                                       "median",
                                       "mode",
                                       "multi_margin_loss",
                                       "nanmean",
                                       "nanmedian",
                                       "nansum",
                                       "norm",
                                       "scatter_reduce"};

TEST_P(OpOnCuda, LeavesValuesThere) {
  const std::string moved = moved_by(*ops::find_op(GetParam()));
  EXPECT_EQ(moved.empty(), kOnHost.count(GetParam()) == 0) << moved;
}

INSTANTIATE_TEST_SUITE_P(AllOps, OpOnCuda, testing::ValuesIn(ops_with_samples()),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace ohm::test
