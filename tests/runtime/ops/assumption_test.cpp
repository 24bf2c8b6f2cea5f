// Figures that are exact, and figures that rest on what was not measured.
#include "allocator_shim/base/assumption.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/engine.h"
#include "runtime/ops/attention/attention.h"
#include "runtime/ops/convolution/conv.h"
#include "runtime/ops/embedding/embedding.h"
#include "runtime/ops/matmul/linear.h"
#include "runtime/ops/normalization/batch_norm.h"
#include "runtime/ops/reduction/reduction.h"
#include "runtime/tensor/context.h"
#include "tests/support/checkout_paths.h"
#include "tests/support/test_machine.h"

namespace ohm::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Assumptions : public testing::Test {
 protected:
  static Tensor values(const Shape& shape) {
    return zeros(shape, {DType::float32, Device::cuda(0)});
  }
  static Tensor convolved() {
    return ops::conv2d(values({2, 3, 8, 8}), values({4, 3, 3, 3}), {}, {1}, {0}, {1}, 1);
  }
  static Tensor normalised() {
    return ops::batch_norm(values({2, 3, 8, 8}), values({3}), values({3}), values({3}), values({3}),
                           true, 0.1, 1e-5);
  }
  static void look_up_and_back(std::int64_t indices) {
    const Tensor table = values({100, 8});
    table.set_requires_grad(true);
    const Tensor rows =
        ops::embedding(zeros({indices}, {DType::int64, Device::cuda(0)}), table, std::nullopt);
    backward(ops::sum(rows));
  }
  std::vector<std::string> made() { return slot().assumptions.names(); }
  DeviceSlot& slot() { return machine_.context().slot(Device::cuda(0)); }

  TestMachine machine_{{.cublas_workspace_bytes = 8'519'680}};
};

TEST_F(Assumptions, AreNotMadeForWhatWasRecorded) {
  const Tensor weight = values({4, 8});
  weight.set_requires_grad(true);
  backward(ops::sum(ops::linear(values({2, 8}), weight, values({4}))));
  look_up_and_back(5000);
  EXPECT_THAT(made(), IsEmpty());
}

TEST_F(Assumptions, AreMadeForWhatCudnnComputes) {
  convolved();
  EXPECT_THAT(made(), ElementsAre("cudnn_workspace"));
  normalised();
  EXPECT_THAT(made(), ElementsAre("cudnn_workspace", "cudnn_batch_norm"));
}

TEST_F(Assumptions, AreNotMadeForPyTorchsOwnKernels) {
  machine_.context().cudnn_enabled = false;
  convolved();
  normalised();
  EXPECT_THAT(made(), IsEmpty());
}

TEST_F(Assumptions, AreMadeForSortsOnCardsThatWereNotRecorded) {
  slot().compute_capability = {7, 0};
  look_up_and_back(3000);
  EXPECT_THAT(made(), IsEmpty()) << "few indices are not sorted";
  look_up_and_back(5000);
  EXPECT_THAT(made(), ElementsAre("sorting_scratch"));
}

TEST_F(Assumptions, AreMadeForWorkspacesOfLaterVersions) {
  Context::current().rules.workspaces = WorkspaceLife::both_handles;
  ops::linear(values({2, 8}), values({4, 8}), std::nullopt);
  EXPECT_THAT(made(), IsEmpty()) << "without a bias cuBLASLt has no part in it";
  EXPECT_EQ(8'519'680, machine_.allocated_bytes());
  ops::linear(values({2, 8}), values({4, 8}), values({4}));
  EXPECT_THAT(made(), ElementsAre("kept_lt_workspace"));
  EXPECT_EQ(8'519'680 + 1'048'576, machine_.allocated_bytes()) << "both stay";
}

TEST_F(Assumptions, AreMadeForTheAttentionThatLaterVersionsLeaveToCudnn) {
  const auto attend = [] {
    const Tensor half = zeros({2, 2, 32, 64}, {DType::float16, Device::cuda(0)});
    return ops::scaled_dot_product_attention(half, half, half, std::nullopt, 0.0, false,
                                             std::nullopt);
  };
  machine_.context().rules = find_rule_set("pytorch-2.15");
  attend();
  EXPECT_THAT(made(), IsEmpty()) << "flash, on compute capability 8.0";
  slot().compute_capability = {9, 0};
  machine_.context().rules = find_rule_set("pytorch-2.6");
  attend();
  machine_.context().rules = find_rule_set("pytorch-2.15");
  machine_.context().state.attention_kernels.cudnn = false;
  attend();
  EXPECT_THAT(made(), IsEmpty());
  machine_.context().state.attention_kernels.cudnn = true;
  slot().compute_capability = {12, 0};
  attend();
  EXPECT_THAT(made(), IsEmpty());
  slot().compute_capability = {9, 0};
  attend();
  EXPECT_THAT(made(), ElementsAre("cudnn_attention"));
}

TEST_F(Assumptions, AreNotMadeForWorkspacesOfACall) {
  Context::current().rules = find_rule_set("pytorch-2.15");
  const std::int64_t before = machine_.allocated_bytes();
  ops::linear(values({2, 8}), values({4, 8}), values({4}));
  ops::linear(values({2, 8}), values({4, 8}), std::nullopt);
  EXPECT_THAT(made(), IsEmpty());
  EXPECT_EQ(machine_.allocated_bytes(), before) << "both are gone";
}

TEST(AssumptionTable, StandsInTheDocuments) {
  std::ifstream file(std::string(OHM_GOLDEN_DIR) + "/../../docs/reference.md");
  std::stringstream document;
  document << file.rdbuf();
  for (const AssumptionInfo& info : assumption_table()) {
    const std::string row =
        "| `" + std::string(info.name) + "` | " + std::string(info.granted) + " |\n";
    EXPECT_THAT(document.str(), testing::HasSubstr(row));
  }
}

}  // namespace
}  // namespace ohm::test
