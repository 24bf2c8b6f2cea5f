// Size-only devices: the same events as with values, for every op.
#include <gtest/gtest.h>

#include <fmt/core.h>

#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/engine.h"
#include "runtime/ops/op_list.h"
#include "tests/support/op_samples.h"
#include "tests/support/test_machine.h"

namespace ohm::test {
namespace {

constexpr std::size_t kWorkspaceBytes = 8'519'680;

// Forward and backward of all samples of an op on GPU 0, as lines of events.
std::vector<std::string> events_of(const ops::OpDef& op, DType dtype, ValueMode values) {
  TestMachine machine({.values = values, .cublas_workspace_bytes = kWorkspaceBytes});
  for (const Sample& sample : samples_of(op)) {
    const Sample inputs = converted(sample, dtype, Device::cuda(0));
    require_gradients(op, inputs);
    std::vector<Tensor> roots;
    std::vector<Tensor> grads;
    for (const Tensor& result : tensors_in(call_op(op, inputs))) {
      if (!result.requires_grad()) continue;
      roots.push_back(result);
      grads.push_back(ones_like(result));
    }
    backward(roots, grads, GraphRetention::release);
  }
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < machine.events().size(); ++i) {
    const MemoryEvent& event = machine.events()[i];
    lines.push_back(fmt::format("{} {} at {:x} ({} in block)", name_of(event.action), event.bytes,
                                event.address, event.block_bytes()));
  }
  return lines;
}

/// PyTorch has them for float32 and float64 alone.
const std::set<std::string> kNotOfHalves = {"ctc_loss"};

/// How many elements there are depends on values.
const std::set<std::string> kOfValues = {"masked_select", "masked_scatter"};

class SizeOnly : public testing::TestWithParam<std::string> {};

TEST_P(SizeOnly, AllocatesAsWithValues) {
  const ops::OpDef& op = *ops::find_op(GetParam());
  for (const DType dtype : {DType::float32, DType::float16, DType::float64}) {
    SCOPED_TRACE(name_of(dtype));
    if (dtype == DType::float16 && kNotOfHalves.contains(GetParam())) {
      EXPECT_THROW(events_of(op, dtype, ValueMode::size_only), std::invalid_argument);
      continue;
    }
    if (kOfValues.contains(GetParam())) {
      EXPECT_THROW(events_of(op, dtype, ValueMode::size_only), std::invalid_argument);
      continue;
    }
    const std::vector<std::string> events = events_of(op, dtype, ValueMode::size_only);
    EXPECT_FALSE(events.empty());
    EXPECT_EQ(events, events_of(op, dtype, ValueMode::keeps_values));
  }
}

INSTANTIATE_TEST_SUITE_P(AllOps, SizeOnly, testing::ValuesIn(ops_with_samples()),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace ohm::test
