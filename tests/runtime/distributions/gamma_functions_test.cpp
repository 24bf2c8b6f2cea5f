#include "runtime/distributions/gamma_functions.h"

#include <gtest/gtest.h>

#include <cmath>

namespace ohm::distributions {
namespace {

TEST(GammaFunctions, SharesAreThoseOfKnownDistributions) {
  EXPECT_NEAR(gamma_share(1.0, 0.7), 1.0 - std::exp(-0.7), 1e-14);
  EXPECT_NEAR(gamma_share(0.5, 2.0), std::erf(std::sqrt(2.0)), 1e-14);
  EXPECT_NEAR(gamma_share(2.0, 9.0), 1.0 - 10.0 * std::exp(-9.0), 1e-14);
  EXPECT_NEAR(beta_share(1.0, 3.0, 0.2), 1.0 - std::pow(0.8, 3.0), 1e-14);
  EXPECT_NEAR(beta_share(2.0, 1.0, 0.9), 0.81, 1e-14);
}

// PyTorch's own are approximations: torch._standard_gamma_grad and _dirichlet_grad of 2.15.
TEST(GammaFunctions, SlopesAreThoseOfPyTorch) {
  constexpr double kGamma[][3] = {{0.1, 0.05, 1.36728}, {0.5, 0.2, 0.79405}, {1.0, 1.7, 1.51656},
                                  {2.0, 1.0, 0.75075},  {4.0, 6.0, 1.26819}, {10.0, 8.0, 0.9075},
                                  {50.0, 60.0, 1.09759}};
  for (const auto& [shape, x, slope] : kGamma) {
    EXPECT_NEAR(slope_of_gamma_draw(shape, x), slope, 2e-3 * slope) << shape << " " << x;
  }
  constexpr double kDirichlet[][4] = {{0.1, 0.5, 1.5, 0.51169},
                                      {0.5, 2.0, 5.0, 0.26038},
                                      {0.9, 4.0, 5.0, 0.23706},
                                      {0.3, 10.0, 30.0, 0.03248}};
  for (const auto& [x, concentration, total, slope] : kDirichlet) {
    EXPECT_NEAR(slope_of_dirichlet_draw(x, concentration, total), slope, 2e-3 * slope) << x;
  }
}

TEST(GammaFunctions, DrawsFollowFromTheirSeed) {
  Draws first(7);
  Draws second(7);
  for (const double shape : {0.2, 1.0, 30.0}) {
    EXPECT_EQ(drawn_gamma(shape, first), drawn_gamma(shape, second));
  }
  EXPECT_TRUE(std::isnan(drawn_gamma(-1.0, first)));
}

}  // namespace
}  // namespace ohm::distributions
