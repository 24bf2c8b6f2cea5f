// What attention's memory-efficient kernel allocates for gradients, and where flash has none:
// sequences of PyTorch 2.6.0 and 2.15.0, which are alike, on GPUs of these compute capabilities.
#include <fmt/format.h>

#include "runtime/autograd/node.h"
#include "runtime/ops/attention/attention.h"
#include "tests/support/op_events.h"

namespace ohm::test {
namespace {

using testing::HasSubstr;

constexpr std::array<int, 2> kTuring{7, 5};
constexpr std::array<int, 2> kA100{8, 0};
constexpr std::array<int, 2> kAda{8, 9};
constexpr std::array<int, 2> kHopper{9, 0};

class AttentionEvents : public OpEvents {
 protected:
  AttentionEvents() { context().rules = find_rule_set("pytorch-2.6"); }

  /// 33 queries and 40 keys in 4 heads.
  Tensor attended(const std::array<int, 2>& capability, DType dtype, std::int64_t width,
                  double dropout_p) {
    context().gpus[0].compute_capability = capability;
    const auto heads = [&](std::int64_t length) { return leaf({1, 4, length, width}, dtype); };
    return ops::scaled_dot_product_attention(heads(33), heads(40), heads(40), std::nullopt,
                                             dropout_p, false, std::nullopt);
  }
  std::string backward_of(const Tensor& out) {
    events();
    return backward_events(out);
  }
};

struct Workspace {
  std::array<int, 2> capability;
  DType dtype;
  std::int64_t width;
  double dropout_p;
  int bytes;
};

TEST_F(AttentionEvents, TheWorkspaceFollowsFromTheBlocksThatFitSharedMemory) {
  context().state.attention_kernels.flash = false;
  const Workspace recorded[] = {
      {kA100, DType::float16, 64, 0.0, 65'600},     {kA100, DType::float16, 72, 0.0, 262'208},
      {kA100, DType::float16, 96, 0.1, 262'208},    {kA100, DType::bfloat16, 128, 0.0, 262'208},
      {kA100, DType::float16, 136, 0.0, 917'696},   {kA100, DType::float32, 64, 0.0, 65'600},
      {kA100, DType::float32, 72, 0.0, 262'272},    {kA100, DType::float32, 136, 0.0, 393'408},
      {kHopper, DType::float16, 128, 0.0, 262'208}, {kHopper, DType::float32, 128, 0.0, 262'272},
      {kAda, DType::float16, 64, 0.0, 65'600},      {kAda, DType::float16, 96, 0.0, 262'272},
      {kAda, DType::float16, 96, 0.1, 393'344},     {kAda, DType::bfloat16, 128, 0.0, 393'344},
      {kAda, DType::float16, 136, 0.0, 917'696},    {kAda, DType::float32, 128, 0.0, 131'200},
      {kAda, DType::float32, 136, 0.0, 196'800},    {kTuring, DType::float16, 72, 0.1, 262'272},
      {kTuring, DType::float16, 128, 0.0, 262'272}, {kTuring, DType::float16, 136, 0.0, 917'696},
      {kTuring, DType::float32, 128, 0.0, 131'200},
  };
  for (const Workspace& of : recorded) {
    const Tensor out = attended(of.capability, of.dtype, of.width, of.dropout_p);
    EXPECT_THAT(backward_of(out), HasSubstr(fmt::format(":{} ", of.bytes)))
        << of.capability[0] << "." << of.capability[1] << ", " << name_of(of.dtype) << ", width "
        << of.width << ", dropout " << of.dropout_p;
  }
}

TEST_F(AttentionEvents, FlashHasNoGradientsOfSomeWideHeadsWhereSharedMemoryIsSmall) {
  const auto kernel_of = [&](const std::array<int, 2>& capability, std::int64_t width,
                             double dropout_p) {
    return std::string(attended(capability, DType::float16, width, dropout_p).grad_fn()->name());
  };
  constexpr const char* kFlash = "ScaledDotProductFlashAttentionBackward";
  constexpr const char* kEfficient = "ScaledDotProductEfficientAttentionBackward";
  EXPECT_EQ(kernel_of(kAda, 192, 0.1), kFlash);
  EXPECT_EQ(kernel_of(kAda, 200, 0.0), kEfficient);
  EXPECT_EQ(kernel_of(kAda, 224, 0.0), kEfficient);
  EXPECT_EQ(kernel_of(kAda, 232, 0.0), kFlash);
  EXPECT_EQ(kernel_of(kAda, 256, 0.1), kEfficient);
  EXPECT_EQ(kernel_of(kA100, 224, 0.1), kFlash);
  EXPECT_EQ(kernel_of(kHopper, 256, 0.1), kFlash);
}

}  // namespace
}  // namespace ohm::test
