#include "harness/fit/measured_error.h"

#include <gtest/gtest.h>

namespace ohm::engine {
namespace {

std::optional<FitError> error_of(const std::string& gpu,
                                 const std::vector<std::string>& assumptions,
                                 const std::string& torch = "2.6.0+cu124") {
  return measured_error(parse_gpu_selection(gpu), torch, assumptions);
}

TEST(MeasuredError, IsThatOfJobsOfTheKind) {
  const std::optional<FitError> transformers = error_of("rtx3060-12g", {"process_context"});
  const std::optional<FitError> cnns =
      error_of("l4-24g,capacity=8GiB", {"cudnn_workspace", "cudnn_batch_norm"});
  ASSERT_TRUE(transformers && cnns);
  EXPECT_NE(transformers->comparable.find("transformers"), std::string::npos);
  EXPECT_NE(cnns->comparable.find("CNNs"), std::string::npos);
  for (const FitError& error : {*transformers, *cnns}) {
    EXPECT_GT(error.most_percent, 0);
    EXPECT_LT(error.most_percent, 100);
    EXPECT_GT(error.jobs, 0);
  }
}

TEST(MeasuredError, IsNotClaimedWhereNothingWasMeasured) {
  EXPECT_FALSE(error_of("rtx3060-12g", {}, "2.15.0"));
  EXPECT_FALSE(error_of("rtx3060-12g", {}, "2.60.0"));
  EXPECT_FALSE(error_of("rtx3060-12g", {}, ""));
  EXPECT_FALSE(error_of("h100-80g", {}));
  EXPECT_FALSE(error_of("rtx3060-12g,count=2", {}));
  EXPECT_FALSE(error_of("rtx3060-12g", {"cudnn_rnn_reserve"}));
  EXPECT_FALSE(error_of("rtx3060-12g", {"process_context", "cufft_workspace"}));
}

}  // namespace
}  // namespace ohm::engine
