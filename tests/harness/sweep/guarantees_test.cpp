// Every op and every module: the strong guarantee forward, the basic one backward.
#include "tests/harness/sweep/guarantees.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "runtime/nn/registry.h"
#include "runtime/ops/op_list.h"
#include "tests/support/bad_arguments.h"
#include "tests/support/recorded_modules.h"

namespace ohm::engine {
namespace {

// ---- ops ----------------------------------------------------------------------------------------

std::vector<std::string> all_op_names() {
  std::vector<std::string> names;
  for (const ops::OpDef& op : ops::all_ops()) names.emplace_back(op.info.name);
  return names;
}

/// Of ops without samples that do not take what any op can be called with.
std::map<std::string, test::Sample> particular_arguments() {
  const Tensor mask = ones({2, 3}, {DType::boolean, Device::cuda(0)});
  const Tensor numbers = ones({2, 3}, {DType::int64, Device::cuda(0)});
  return {{"one_hot", {zeros({3}, {DType::int64, Device::cuda(0)}), std::int64_t{3}}},
          {"bincount", {zeros({3}, {DType::int64, Device::cuda(0)})}},
          {"bucketize", {ones({2, 3}, kOnGpu), ones({3}, kOnGpu)}},
          {"bitwise_not", {mask}},
          {"bitwise_and", {mask, mask}},
          {"bitwise_or", {mask, mask}},
          {"bitwise_xor", {mask, mask}},
          {"bitwise_left_shift", {numbers, numbers}},
          {"bitwise_right_shift", {numbers, numbers}},
          {"random_", {numbers, std::int64_t{3}, ops::Value()}},
          {"gcd", {numbers, numbers}},
          {"lcm", {numbers, numbers}},
          {"addmm_", {ones({3, 4}, kOnGpu), ones({3, 2}, kOnGpu), ones({2, 4}, kOnGpu)}},
          {"baddbmm_", {ones({2, 3, 4}, kOnGpu), ones({2, 3, 2}, kOnGpu), ones({2, 2, 4}, kOnGpu)}},
          {"addbmm_", {ones({3, 4}, kOnGpu), ones({2, 3, 2}, kOnGpu), ones({2, 2, 4}, kOnGpu)}},
          {"multinomial", {ones({2, 3}, kOnGpu), std::int64_t{2}, false}},
          {"vector_to_parameters",
           {ones({8}, kOnGpu), std::vector<Tensor>{ones({2, 3}, kOnGpu), ones({2}, kOnGpu)}}}};
}

class EachOp : public Guarantees, public testing::WithParamInterface<std::string> {
 protected:
  /// The row's samples, or what any op can be called with.
  std::vector<test::Sample> samples() const {
    std::vector<test::Sample> all;
    const std::map<std::string, test::Sample> particular = particular_arguments();
    if (const auto found = particular.find(GetParam()); found != particular.end()) {
      return {found->second};
    }
    if (!test::has_samples(op_)) return {test::good_arguments(op_)};
    for (const test::Sample& sample : test::samples_of(op_)) {
      all.push_back(test::converted(sample, DType::float32, Device::cuda(0)));
    }
    return all;
  }

  const ops::OpDef& op_ = *ops::find_op(GetParam());
};

TEST_P(EachOp, GivesTheStrongGuarantee) {
  for (const test::Sample& sample : samples()) {
    // As in PyTorch, where the noise of whole channels is a tensor of its own, and what is drawn
    // for each weight is sorted into one.
    constexpr std::string_view kDrawFirst[] = {"alpha_dropout", "alpha_dropout_", "dropout1d",
                                               "dropout2d",     "dropout3d",      "multinomial",
                                               "gumbel_softmax"};
    const bool draws_first =
        std::find(std::begin(kDrawFirst), std::end(kDrawFirst), GetParam()) != std::end(kDrawFirst);
    const Draws draws = draws_first ? Draws::early : Draws::last;
    expect_strong([&] { test::call_op(op_, sample); }, [&] { return tensors_in(sample); }, draws);
  }
}

class EachGradient : public EachOp {};

TEST_P(EachGradient, GivesTheBasicGuarantee) {
  for (const test::Sample& sample : samples()) {
    test::require_gradients(op_, sample);
    expect_whole_gradients(leaves_in(tensors_in(sample)),
                           [&] { run_backward(test::tensors_in(test::call_op(op_, sample))); });
  }
}

INSTANTIATE_TEST_SUITE_P(AllOps, EachOp, testing::ValuesIn(all_op_names()),
                         [](const auto& instance) { return instance.param; });

std::vector<std::string> differentiable_op_names() {
  std::vector<std::string> names;
  for (const ops::OpDef& op : ops::all_ops()) {
    if (test::has_samples(op)) names.emplace_back(op.info.name);
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(AllOps, EachGradient, testing::ValuesIn(differentiable_op_names()),
                         [](const auto& instance) { return instance.param; });

// ---- modules ------------------------------------------------------------------------------------

std::vector<std::string> all_module_names() {
  std::vector<std::string> names;
  for (const nn::ModuleDef& row : nn::all_modules()) names.emplace_back(row.name);
  return names;
}

class EachModule : public Guarantees, public testing::WithParamInterface<std::string> {
 protected:
  using Check = std::function<void(nn::Module&, const std::vector<ops::Value>& inputs)>;

  void for_each_recorded(const Check& check) {
    for (const nlohmann::json& recorded : test::recorded_modules()) {
      if (recorded["module"] != GetParam()) continue;
      SCOPED_TRACE(recorded["options"].dump());
      const nn::ModulePtr module = test::module_for(recorded);
      module->set_training(recorded["is_training"].get<bool>());
      check(*module, test::inputs_of(recorded));
    }
  }
};

TEST_P(EachModule, GivesTheStrongGuarantee) {
  for_each_recorded([&](nn::Module& module, const std::vector<ops::Value>& inputs) {
    expect_strong([&] { module.forward(inputs); },
                  [&] {
                    Tensors tensors = tensors_in(inputs);
                    for (const auto& named : module.named_parameters())
                      tensors.push_back(named.tensor);
                    for (const auto& named : module.named_buffers())
                      tensors.push_back(named.tensor);
                    return tensors;
                  },
                  Draws::last);
  });
}

TEST_P(EachModule, GivesTheBasicGuaranteeInBackward) {
  for_each_recorded([&](nn::Module& module, const std::vector<ops::Value>& inputs) {
    Tensors leaves = leaves_in(tensors_in(inputs));
    for (const Tensor& parameter : module.parameters()) leaves.push_back(parameter);
    expect_whole_gradients(leaves, [&] { run_backward(test::results_of(module.forward(inputs))); });
  });
}

INSTANTIATE_TEST_SUITE_P(AllModules, EachModule, testing::ValuesIn(all_module_names()),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace ohm::engine
