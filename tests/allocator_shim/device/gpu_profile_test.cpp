#include "allocator_shim/device/gpu_profile.h"

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>

#include "allocator_shim/base/bytes.h"
#include "allocator_shim/base/format_bytes.h"

namespace ohm {
namespace {

std::string selection_error(std::string_view text) {
  try {
    parse_gpu_selection(text);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
}

TEST(GpuProfile, IsFoundByItsName) {
  const GpuProfile& a100 = find_gpu_profile("a100-40g");
  EXPECT_EQ(a100.capacity_bytes, 42'298'834'944U);
  EXPECT_TRUE(a100.capacity_is_exact);
  EXPECT_EQ(a100.multiprocessors, 108);
  EXPECT_EQ(a100.compute_capability, (std::array{8, 0}));
}

TEST(GpuProfile, PrintsTheCapacityThatMessagesShow) {
  EXPECT_EQ(pytorch_bytes(find_gpu_profile("v100-16g").capacity_bytes), "15.78 GiB");
  EXPECT_EQ(pytorch_bytes(find_gpu_profile("t4-16g").capacity_bytes), "14.75 GiB");
  EXPECT_EQ(pytorch_bytes(find_gpu_profile("a100-80g").capacity_bytes), "79.14 GiB");
  EXPECT_EQ(pytorch_bytes(find_gpu_profile("l4-24g").capacity_bytes), "22.17 GiB");
  EXPECT_EQ(pytorch_bytes(find_gpu_profile("rtx4090-24g").capacity_bytes), "23.65 GiB");
  EXPECT_EQ(pytorch_bytes(find_gpu_profile("h100-80g").capacity_bytes), "79.10 GiB");
  EXPECT_EQ(pytorch_bytes(find_gpu_profile("h200-141g").capacity_bytes), "139.80 GiB");
}

TEST(GpuProfile, LeavesRoomBesideEveryContext) {
  std::set<std::string_view> names;
  for (const GpuProfile& profile : gpu_profiles()) {
    EXPECT_GT(profile.capacity_bytes, profile.context_bytes) << profile.name;
    EXPECT_TRUE(names.insert(profile.name).second) << profile.name;
  }
}

TEST(GpuProfile, SaysWhoPublishedTheFigures) {
  int cards = 0;
  for (const GpuProfile& profile : gpu_profiles()) {
    EXPECT_FALSE(profile.source.empty()) << profile.name;
    EXPECT_GT(profile.multiprocessors, 0) << profile.name;
    EXPECT_GT(profile.compute_capability[0], 0) << profile.name;
    if (!profile.product.empty()) ++cards;
  }
  EXPECT_GE(cards, 60);
}

TEST(GpuProfile, HasMeasuredWorkspacesOnlyOfCardsThatWereMeasured) {
  for (const GpuProfile& profile : gpu_profiles()) {
    const bool is_measured = profile.name == "h100-80g" || profile.name == "h200-141g";
    EXPECT_EQ(profile.has_measured_cudnn, is_measured) << profile.name;
  }
}

TEST(GpuProfile, KeepsTheReserveOfRecurrentNetworksOnEveryCard) {
  for (const GpuProfile& profile : gpu_profiles()) {
    EXPECT_EQ(profile.has_recurrent_reserve, profile.context_bytes > 0) << profile.name;
  }
  EXPECT_FALSE(find_gpu_profile("golden-sm80").has_recurrent_reserve);
}

TEST(GpuProfile, KnowsTheThreadsOfAnArchitecture) {
  EXPECT_EQ(find_gpu_profile("k80-12g").threads_per_multiprocessor, 2048);
  EXPECT_EQ(find_gpu_profile("t4-16g").threads_per_multiprocessor, 1024);
  EXPECT_EQ(find_gpu_profile("a100-40g").threads_per_multiprocessor, 2048);
  EXPECT_EQ(find_gpu_profile("rtx3060-12g").threads_per_multiprocessor, 1536);
  EXPECT_EQ(find_gpu_profile("l4-24g").threads_per_multiprocessor, 1536);
  EXPECT_EQ(find_gpu_profile("b200-180g").threads_per_multiprocessor, 2048);
  EXPECT_EQ(find_gpu_profile("rtx5090-32g").threads_per_multiprocessor, 1536);
}

TEST(GpuSelection, TakesACapacityAndACount) {
  const GpuSelection selection = parse_gpu_selection("a100-40g,capacity=24GiB,count=2");
  EXPECT_EQ(selection.profile.name, "a100-40g");
  EXPECT_EQ(selection.profile.capacity_bytes, 24_GiB);
  EXPECT_EQ(selection.count, 2);
  EXPECT_EQ(parse_gpu_selection("tiny-64m").count, std::nullopt);
  EXPECT_EQ(parse_gpu_selection("tiny-64m").profile.capacity_bytes, 64_MiB);
}

TEST(GpuSelection, SaysWhichPartIsWrong) {
  EXPECT_EQ(selection_error("a100-4g"),
            "[gpu] unknown profile \"a100-4g\" (did you mean \"a100-40g\"?)");
  EXPECT_EQ(selection_error(""), "[gpu] unknown profile \"\"; ohm gpus lists them");
  EXPECT_EQ(selection_error("tiny-64m,cout=2"),
            "[gpu] expected capacity=SIZE or count=N, not \"cout=2\" (did you mean \"count\"?)");
  EXPECT_EQ(selection_error("tiny-64m,count"),
            "[gpu] expected capacity=SIZE or count=N, not \"count\" (did you mean \"count\"?)");
  EXPECT_EQ(selection_error("tiny-64m,count=0"), "[gpu] count must be 1 to 64: \"0\"");
  EXPECT_EQ(selection_error("tiny-64m,count=2x"), "[gpu] count must be 1 to 64: \"2x\"");
  EXPECT_EQ(selection_error("a100-40g,capacity=256MiB"),
            "[gpu] a capacity of 256.00 MiB leaves nothing beside the context of a100-40g, which "
            "takes 450.00 MiB");
  EXPECT_NE(selection_error("tiny-64m,capacity=big").find("not a number of bytes: \"big\""),
            std::string::npos);
}

struct Misspelling {
  const char* typed;
  const char* suggestion;
};

TEST(GpuSelection, SuggestsTheProfilesOfAModel) {
  constexpr const char* kNone = "; ohm gpus lists them";
  constexpr std::array kMisspellings = {
      Misspelling{"l4", " (did you mean \"l4-24g\"?)"},
      Misspelling{"A100", " (did you mean \"a100-40g\" or \"a100-pcie-40g\" or \"a100-80g\"?)"},
      Misspelling{"RTX 4090", " (did you mean \"rtx4090-24g\"?)"},
      Misspelling{"4090", " (did you mean \"rtx4090-24g\"?)"},
      Misspelling{"NVIDIA H200", " (did you mean \"h200-141g\"?)"},
      Misspelling{"H100-80GB", " (did you mean \"h100-80g\"?)"},
      Misspelling{"l4-24gb", " (did you mean \"l4-24g\"?)"},
      Misspelling{"a100-80", " (did you mean \"a100-80g\"?)"},
      Misspelling{"a10", " (did you mean \"a10-24g\"?)"},
      Misspelling{"b200", " (did you mean \"b200-180g\"?)"},
      Misspelling{"a16", kNone},
      Misspelling{"mi300x", kNone}};
  for (const Misspelling& one : kMisspellings) {
    EXPECT_EQ(selection_error(one.typed),
              std::string("[gpu] unknown profile \"") + one.typed + "\"" + one.suggestion);
  }
}

TEST(GpuSelection, TakesAProfileThatStandsInNoTable) {
  GpuProfile measured = find_gpu_profile("a100-40g");
  measured.name = "measured.json";
  measured.capacity_bytes = 40_GiB;
  const GpuSelection selection = parse_gpu_selection("measured.json,count=2", measured);
  EXPECT_EQ(selection.profile.name, "measured.json");
  EXPECT_EQ(selection.profile.capacity_bytes, 40_GiB);
  EXPECT_EQ(selection.profile.multiprocessors, 108);
  EXPECT_EQ(selection.count, 2);
  EXPECT_THROW(find_gpu_profile("measured.json"), std::invalid_argument) << "nothing is remembered";
}

}  // namespace
}  // namespace ohm
