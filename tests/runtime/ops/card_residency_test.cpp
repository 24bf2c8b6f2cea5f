// Where ops on a real card compute: with values that are on the card alone, no op with samples asks
// for them on the host, forwards or backwards, but for those that are named here.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/autograd/engine.h"
#include "runtime/ops/kernels/kernel_module.h"
#include "runtime/ops/registry.h"
#include "runtime/tensor/factories.h"
#include "tests/support/card_machine.h"
#include "tests/support/op_samples.h"

namespace ohm::test {
namespace {

/// Ops without a kernel: what they need is moved.
constexpr auto kNeedTheHost = std::to_array<std::string_view>({"tile",
                                                               "flip",
                                                               "roll",
                                                               "triu",
                                                               "tril",
                                                               "repeat",
                                                               "cumsum",
                                                               "pad",
                                                               "gather",
                                                               "index_select",
                                                               "index",
                                                               "scatter_add",
                                                               "scatter",
                                                               "index_add",
                                                               "max",
                                                               "min",
                                                               "sort",
                                                               "topk",
                                                               "var",
                                                               "std",
                                                               "norm",
                                                               "prod",
                                                               "logsumexp",
                                                               "amax",
                                                               "amin",
                                                               "scaled_dot_product_attention",
                                                               "nll_loss",
                                                               "cross_entropy",
                                                               "max_pool2d",
                                                               "avg_pool2d",
                                                               "adaptive_avg_pool2d",
                                                               "max_pool1d",
                                                               "adaptive_avg_pool1d",
                                                               "interpolate",
                                                               "batch_norm",
                                                               "group_norm",
                                                               "instance_norm",
                                                               "embedding",
                                                               "_thnn_fused_gru_cell",
                                                               "_thnn_fused_lstm_cell"});

void call_with_gradients(const ops::OpDef& op, const ops::Sample& sample) {
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
ops::Sample on_card(const ops::Sample& sample) {
  ops::Sample result = converted(sample, DType::float32, Device::cuda(0));
  for (const ops::Value& value : result) {
    for (const Tensor& tensor : tensors_in(value)) {
      if (tensor.card() != nullptr) tensor.card_address(CardAccess::write);
    }
  }
  return result;
}

/// What came to the host while every sample was computed, a line for each op or node.
std::string moved_by(const ops::OpDef& op) {
  CardMachine machine;
  CardBackend counting = *machine.context().gpus[0].card;
  counting.traffic = std::make_shared<CardTraffic>();
  machine.context().gpus[0].card = &counting;
  for (const ops::Sample& sample : op.samples()) {
    call_with_gradients(op, on_card(sample));
  }
  std::string moved;
  for (const auto& [name, values] : counting.traffic->to_host) {
    moved += name + ": " + std::to_string(values.times) + " times\n";
  }
  return moved;
}

std::vector<std::string> ops_with_samples() {
  std::vector<std::string> names;
  for (const ops::OpDef& op : ops::all_ops()) {
    if (op.samples) names.emplace_back(op.info.name);
  }
  return names;
}

class OpOnCard : public testing::TestWithParam<std::string> {};

TEST_P(OpOnCard, LeavesValuesThereUnlessItHasNoKernel) {
  if (ops::kernels::kernel_images().empty()) GTEST_SKIP() << "no CUDA toolkit: no kernels";
  const bool needs_host =
      std::find(kNeedTheHost.begin(), kNeedTheHost.end(), GetParam()) != kNeedTheHost.end();
  const std::string moved = moved_by(*ops::find_op(GetParam()));
  EXPECT_EQ(!moved.empty(), needs_host) << moved;
}

INSTANTIATE_TEST_SUITE_P(AllOps, OpOnCard, testing::ValuesIn(ops_with_samples()),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace ohm::test
