// Switching cuDNN off changes what is allocated, never what is computed.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/engine.h"
#include "runtime/ops/op_list.h"
#include "tests/support/op_samples.h"
#include "tests/support/test_machine.h"

namespace ohm::test {
namespace {

// A gradient with another value for each element.
Tensor slopes_like(const Tensor& result) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < result.numel(); ++i) {
    values.push_back(0.5 + 0.25 * static_cast<double>(i % 7));
  }
  return from_values(values, result.shape(), options_of(result));
}

// Result and gradients of one sample, one after the other.
std::vector<double> computed(const ops::OpDef& op, const Sample& given) {
  const Sample sample = converted(given, DType::float64, Device::cuda(0));
  require_gradients(op, sample);
  const Tensor result = tensors_in(call_op(op, sample))[0];
  std::vector<double> values = to_doubles(result);
  backward({result}, {slopes_like(result)}, GraphRetention::release);
  for (const std::size_t position : differentiable(op, sample)) {
    for (const Tensor& leaf : tensors_in(sample[position])) {
      const std::vector<double> gradient = to_doubles(leaf.grad());
      values.insert(values.end(), gradient.begin(), gradient.end());
    }
  }
  return values;
}

class CudnnSwitch : public testing::TestWithParam<std::string> {
 protected:
  TestMachine machine_{{.values = ValueMode::keeps_values}};
};

TEST_P(CudnnSwitch, ChangesNoValue) {
  const ops::OpDef& op = *ops::find_op(GetParam());
  for (const Sample& sample : samples_of(op)) {
    machine_.context().cudnn_enabled = true;
    const std::vector<double> expected = computed(op, sample);
    machine_.context().cudnn_enabled = false;
    const std::vector<double> values = computed(op, sample);
    ASSERT_EQ(values.size(), expected.size());
    for (std::size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(values[i], expected[i], 1e-12);
  }
}

INSTANTIATE_TEST_SUITE_P(Ops, CudnnSwitch, testing::Values("conv2d", "batch_norm"),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace ohm::test
