#include "reports/console/why_text.h"

#include <gtest/gtest.h>

#include "tests/support/text.h"

namespace ohm::reports {
namespace {

/// What was held at another moment is not why.
TEST(WhyText, OfAnErrorWithNothingAliveNamesNoHolder) {
  VariantResult variant;
  DeviceResult& device = variant.devices.emplace_back();
  device.device = "cuda:0";
  device.peak.emplace();
  device.peak->holders.push_back({});
  device.peak->holders.back().bytes = 1 << 20;
  device.peak->holders.back().op = "linear";
  OomResult& oom = variant.oom.emplace();
  oom.device = "cuda:0";
  oom.requested_bytes = 1 << 30;
  RunResult result;
  result.scenarios.emplace_back().variants.push_back(variant);
  const std::string text = test::on_one_line(why_text(result, "", 100));
  EXPECT_TRUE(test::contains(text, "with 0 B alive.")) << text;
  EXPECT_FALSE(test::contains(text, "held")) << text;
}

/// The largest row may be a small share of the peak.
TEST(WhyText, TheLargestHolderIsNotSaidToBeMostOfThePeak) {
  for (const char* file : {"", "train.py"}) {
    VariantResult variant;
    DeviceResult& device = variant.devices.emplace_back();
    device.device = "cuda:0";
    device.peak_allocated_bytes = 5 << 20;
    HolderResult& holder = device.peak.emplace().holders.emplace_back();
    holder.bytes = 1 << 20;
    holder.count = 1;
    holder.category = Category::other;
    holder.file = file;
    RunResult result;
    result.scenarios.emplace_back().variants.push_back(variant);
    const std::string text = test::on_one_line(why_text(result, "", 100));
    EXPECT_TRUE(test::contains(text, "The largest part")) << text;
    EXPECT_TRUE(test::contains(text, "1.00 MiB in 1 block")) << text;
    EXPECT_FALSE(test::contains(text, "most")) << text;
  }
}

}  // namespace
}  // namespace ohm::reports
