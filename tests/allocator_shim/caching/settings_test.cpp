#include "allocator_shim/caching/settings.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "allocator_shim/base/bytes.h"

namespace ohm {
namespace {

std::string error_of(std::string_view text, const RuleSet& rules = default_rule_set()) {
  try {
    parse_settings(text, rules);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
}

/// The divisions for 1 MiB, 2 MiB, … 32 GiB.
std::vector<std::size_t> divisions_of(std::string_view text,
                                      const RuleSet& rules = default_rule_set()) {
  const auto table = parse_settings(text, rules).roundup_power2_divisions;
  return {table.begin(), table.end()};
}

TEST(AllocatorSettings, HaveDefaultsWhenNothingIsSaid) {
  const AllocatorSettings settings = parse_settings("");
  EXPECT_EQ(settings, AllocatorSettings());
  EXPECT_EQ(settings.max_split_size_bytes, AllocatorSettings::kNoMaxSplitSize);
  EXPECT_EQ(settings.max_non_split_rounding_bytes, 20_MiB);
}

TEST(AllocatorSettings, ReadSeveralKeysAndDropBlanks) {
  const AllocatorSettings settings = parse_settings(
      " max_split_size_mb: 64 , garbage_collection_threshold:0.6,expandable_segments:True,"
      "max_non_split_rounding_mb:100,backend:native,release_lock_on_cudamalloc:True,"
      "pinned_use_cuda_host_register:True,pinned_num_register_threads:8,"
      "pinned_use_background_threads:True");
  EXPECT_EQ(settings.max_split_size_bytes, 64_MiB);
  EXPECT_EQ(settings.garbage_collection_threshold, 0.6);
  EXPECT_TRUE(settings.expandable_segments);
  EXPECT_EQ(settings.max_non_split_rounding_bytes, 100_MiB);
  EXPECT_TRUE(settings.release_lock_on_cudamalloc);
  EXPECT_TRUE(settings.pinned_use_cuda_host_register);
  EXPECT_EQ(settings.pinned_num_register_threads, 8U);
  EXPECT_TRUE(settings.pinned_use_background_threads);
}

TEST(AllocatorSettings, KeepOnlyWhatPyTorchKeepsWhenParsedAgain) {
  const AllocatorSettings first = parse_settings(
      "max_split_size_mb:64,garbage_collection_threshold:0.6,roundup_power2_divisions:4,"
      "expandable_segments:True,max_non_split_rounding_mb:100");
  const AllocatorSettings second = parse_settings("", default_rule_set(), first);
  EXPECT_EQ(second.max_split_size_bytes, AllocatorSettings::kNoMaxSplitSize);
  EXPECT_EQ(second.garbage_collection_threshold, 0);
  EXPECT_EQ(second.roundup_power2_divisions, AllocatorSettings().roundup_power2_divisions);
  EXPECT_TRUE(second.expandable_segments);
  EXPECT_EQ(second.max_non_split_rounding_bytes, 100_MiB);
}

TEST(AllocatorSettings, FillEveryIntervalFromOneDivision) {
  EXPECT_EQ(divisions_of("roundup_power2_divisions:4"), std::vector<std::size_t>(16, 4));
}

TEST(AllocatorSettings, LeaveGapsBetweenListedIntervals) {
  EXPECT_EQ(divisions_of("roundup_power2_divisions:[4:8,16:2,64:1]"),
            (std::vector<std::size_t>{8, 8, 8, 0, 2, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
}

TEST(AllocatorSettings, LetGreaterThanOverwriteTheLastEntryUntilPyTorch210) {
  const std::string_view text = "roundup_power2_divisions:[256:1,512:2,1024:4,>:8]";
  EXPECT_EQ(divisions_of(text, find_rule_set("pytorch-2.6")),
            (std::vector<std::size_t>{1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 8, 8, 8, 8, 8, 8}));
  EXPECT_EQ(divisions_of(text, find_rule_set("pytorch-2.10")),
            (std::vector<std::size_t>{1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 4, 8, 8, 8, 8, 8}));
}

TEST(AllocatorSettings, TakeIntervalsBeyondTheTableForTheLastOne) {
  EXPECT_EQ(divisions_of("roundup_power2_divisions:[1:2,65536:4]")[15], 4U);
}

TEST(AllocatorSettings, ReadNumbersAsPyTorchsStringConversionDoes) {
  EXPECT_EQ(parse_settings("max_split_size_mb:64MB").max_split_size_bytes, 64_MiB);
  EXPECT_EQ(parse_settings("max_split_size_mb:+64").max_split_size_bytes, 64_MiB);
  // A negative number becomes the largest one.
  EXPECT_EQ(parse_settings("max_split_size_mb:-1").max_split_size_bytes,
            ~std::size_t{0} - 1_MiB + 1);
}

TEST(AllocatorSettings, RefuseWithPyTorchsWords) {
  const std::vector<std::pair<std::string, std::string>> kCases = {
      {"max_split_size:64", "Unrecognized CachingAllocator option: max_split_size"},
      {"garbage", "Unrecognized CachingAllocator option: garbage"},
      {",", "Unrecognized CachingAllocator option: ,"},
      {"max_split_size_mb", "Error parsing CachingAllocator settings, expected :"},
      {"max_split_size_mb=64", "Unrecognized CachingAllocator option: max_split_size_mb=64"},
      {"max_split_size_mb:", "Error, expecting max_split_size_mb value"},
      {"max_split_size_mb:20", "CachingAllocator option max_split_size_mb too small, must be > 20"},
      {"max_non_split_rounding_mb:20",
       "CachingAllocator option max_non_split_rounding_mb too small, must be > 20"},
      {"max_split_size_mb:64 expandable_segments:True",
       "Error parsing CachingAllocator settings, expected ,"},
      {"max_split_size_mb:many", "max_split_size_mb: not a number: many"},
      {"max_split_size_mb:99999999999", "max_split_size_mb: not a number: 99999999999"},
      {"garbage_collection_threshold:", "Error, expecting garbage_collection_threshold value"},
      {"garbage_collection_threshold:0", "garbage_collect_threshold too small, set it 0.0~1.0"},
      {"garbage_collection_threshold:nan", "garbage_collect_threshold too small, set it 0.0~1.0"},
      {"garbage_collection_threshold:1.0", "garbage_collect_threshold too big, set it 0.0~1.0"},
      {"expandable_segments:true", "Expected a single True/False argument for expandable_segments"},
      {"expandable_segments:", "Expected a single True/False argument for expandable_segments"},
      {"backend:", "Error parsing backend value"},
      {"backend:mine", "Unknown allocator backend, options are native and cudaMallocAsync"},
      {"backend:cudaMallocAsync",
       "backend:cudaMallocAsync is another allocator; only backend:native is reproduced here"},
      {"roundup_power2_divisions:", "Error, expecting roundup_power2_divisions value"},
      {"roundup_power2_divisions:0", "For roundups, the divisions has to be power of 2 "},
      {"roundup_power2_divisions:3", "For roundups, the divisions has to be power of 2 "},
      {"roundup_power2_divisions:[3:4]", "For roundups, the intervals have to be power of 2 "},
      {"roundup_power2_divisions:[4:3]",
       "For roundups, the divisions has to be power of 2 or 0 to disable roundup "},
      {"roundup_power2_divisions:[4:2", "Error parsing CachingAllocator settings, expected ,"},
      {"roundup_power2_divisions:[4:2,", "Error parsing CachingAllocator settings, expected ]"},
      {"roundup_power2_divisions:[4", "Error parsing CachingAllocator settings, expected :"},
      {"roundup_power2_divisions:[4:", "Error parsing roundup_power2_divisions value"},
      {"release_lock_on_cudamalloc:1",
       "Expected a single True/False argument for release_lock_on_cudamalloc"},
      {"pinned_use_cuda_host_register:", "Error, expecting pinned_use_cuda_host_register value"},
      {"pinned_use_cuda_host_register:1",
       "Expected a single True/False argument for pinned_use_cuda_host_register"},
      {"pinned_use_background_threads:", "Error, expecting pinned_use_background_threads value"},
      {"pinned_num_register_threads:3", "Number of register threads has to be power of 2 "},
      {"pinned_num_register_threads:256",
       "Number of register threads should be less than or equal to 128"}};
  const RuleSet& rules = find_rule_set("pytorch-2.6");
  for (const auto& [text, message] : kCases) EXPECT_EQ(error_of(text, rules), message) << text;
}

TEST(RuleSet, LetsPyTorch210SplitFrom20MegabytesOn) {
  const RuleSet& rules = find_rule_set("pytorch-2.10");
  EXPECT_EQ(parse_settings("max_split_size_mb:20", rules).max_split_size_bytes, 20_MiB);
  EXPECT_EQ(error_of("max_split_size_mb:19", rules),
            "CachingAllocator option max_split_size_mb too small, must be >= 20");
}

TEST(RuleSet, LetsPyTorch215StartWithAMemoryFraction) {
  const RuleSet& rules = find_rule_set("pytorch-2.15");
  EXPECT_EQ(parse_settings("per_process_memory_fraction:0.5", rules).memory_fraction, 0.5);
  EXPECT_EQ(error_of("per_process_memory_fraction:2", rules),
            "per_process_memory_fraction is invalid, set it in [0.0, 1.0]");
  EXPECT_EQ(error_of("per_process_memory_fraction:0.5", find_rule_set("pytorch-2.6")),
            "Unrecognized CachingAllocator option: per_process_memory_fraction");
  EXPECT_EQ(error_of("nonsense:1", rules),
            "Unrecognized key 'nonsense' in Accelerator allocator config.");
  EXPECT_EQ(parse_settings("max_non_split_rounding_mb:20", rules).max_non_split_rounding_bytes,
            20_MiB);
}

TEST(RuleSet, SuggestsTheNearestName) {
  try {
    find_rule_set("pytorch-2.7");
    ADD_FAILURE() << "found";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(),
                 "[allocator] unknown rule set \"pytorch-2.7\" (did you mean \"pytorch-2.6\"?)");
  }
}

}  // namespace
}  // namespace ohm
