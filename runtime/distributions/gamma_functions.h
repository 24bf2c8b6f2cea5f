// Numbers of Gamma and Beta distributions: draws, and how they move with the shape.
#pragma once

#include <cstdint>

namespace ohm::distributions {

/// Uniform and normal numbers that follow from a seed.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : state_(seed) {}

  /// In (0, 1).
  double uniform();
  double normal();

 private:
  std::uint64_t state_;
};

/// Of a Gamma distribution of this shape and rate 1; positive.
double drawn_gamma(double shape, Draws& draws);

/// The share of a Gamma distribution of this shape and rate 1 that is below x.
double gamma_share(double shape, double x);
/// The share of a Beta distribution that is below x.
double beta_share(double a, double b, double x);

/// How a draw x moves with the shape while gamma_share() of it stays.
double slope_of_gamma_draw(double shape, double x);
/// How an entry x of a row with a sum of 1 moves with its own concentration, where all of the row's
/// have the sum `total`, divided by 1 − x: the others shrink in proportion.
double slope_of_dirichlet_draw(double x, double concentration, double total);

}  // namespace ohm::distributions
