#include "runtime/distributions/gamma_functions.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace ohm::distributions {
namespace {

constexpr int kMostTerms = 100000;
constexpr double kTolerance = 1e-15;
constexpr double kTiny = 1e-300;
// Of a shape, for differences of shares.
constexpr double kStep = 1e-4;

/// A continued fraction from its first terms on, by Lentz's method.
class Fraction {
 public:
  explicit Fraction(double denominator)
      : c_(1.0 / kTiny), d_(1.0 / kept(denominator)), value_(d_) {}
  Fraction(double c, double d) : c_(c), d_(1.0 / kept(d)), value_(d_) {}

  /// Adds a term a / (b + …); whether that has changed the value.
  bool add(double a, double b) {
    d_ = 1.0 / kept(b + a * d_);
    c_ = kept(b + a / c_);
    const double change = c_ * d_;
    value_ *= change;
    return std::abs(change - 1.0) > kTolerance;
  }
  double value() const { return value_; }

 private:
  static double kept(double x) { return std::abs(x) < kTiny ? kTiny : x; }

  double c_;
  double d_;
  double value_;
};

// Σ xⁿ / (s (s + 1) … (s + n))
double gamma_series(double shape, double x) {
  double term = 1.0 / shape;
  double sum = term;
  for (int n = 1; n < kMostTerms && term > sum * kTolerance; ++n) {
    term *= x / (shape + n);
    sum += term;
  }
  return sum;
}

double gamma_fraction(double shape, double x) {
  Fraction fraction(x + 1.0 - shape);
  for (int n = 1; n < kMostTerms; ++n) {
    if (!fraction.add(-n * (n - shape), x + 2.0 * n + 1.0 - shape)) break;
  }
  return fraction.value();
}

double beta_fraction(double a, double b, double x) {
  Fraction fraction(1.0, 1.0 - (a + b) * x / (a + 1.0));
  for (int n = 1; n < kMostTerms; ++n) {
    const double even = n * (b - n) * x / ((a + 2.0 * n - 1.0) * (a + 2.0 * n));
    const double odd = -(a + n) * (a + b + n) * x / ((a + 2.0 * n) * (a + 2.0 * n + 1.0));
    fraction.add(even, 1.0);
    if (!fraction.add(odd, 1.0)) break;
  }
  return fraction.value();
}

double log_beta(double a, double b) { return std::lgamma(a) + std::lgamma(b) - std::lgamma(a + b); }

}  // namespace

double Draws::uniform() {
  state_ += 0x9E3779B97F4A7C15U;
  std::uint64_t mixed = state_;
  mixed = (mixed ^ (mixed >> 30U)) * 0xBF58476D1CE4E5B9U;
  mixed = (mixed ^ (mixed >> 27U)) * 0x94D049BB133111EBU;
  mixed ^= mixed >> 31U;
  return (static_cast<double>(mixed >> 11U) + 0.5) * 0x1p-53;
}

double Draws::normal() {
  const double radius = std::sqrt(-2.0 * std::log(uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

// Marsaglia and Tsang: a cubed normal number, refused where it does not fit.
double drawn_gamma(double shape, Draws& draws) {
  if (!(shape > 0.0)) return std::nan("");
  if (shape < 1.0) return drawn_gamma(shape + 1.0, draws) * std::pow(draws.uniform(), 1.0 / shape);
  const double d = shape - 1.0 / 3.0;
  const double c = 1.0 / std::sqrt(9.0 * d);
  while (true) {
    const double x = draws.normal();
    const double root = 1.0 + c * x;
    if (root <= 0.0) continue;
    const double v = root * root * root;
    if (std::log(draws.uniform()) < 0.5 * x * x + d * (1.0 - v + std::log(v))) return d * v;
  }
}

double gamma_share(double shape, double x) {
  if (x <= 0.0) return 0.0;
  const double scale = std::exp(shape * std::log(x) - x - std::lgamma(shape));
  return x < shape + 1.0 ? scale * gamma_series(shape, x) : 1.0 - scale * gamma_fraction(shape, x);
}

double beta_share(double a, double b, double x) {
  if (x <= 0.0 || x >= 1.0) return x <= 0.0 ? 0.0 : 1.0;
  const double scale = std::exp(a * std::log(x) + b * std::log1p(-x) - log_beta(a, b));
  if (x < (a + 1.0) / (a + b + 2.0)) return scale * beta_fraction(a, b, x) / a;
  return 1.0 - scale * beta_fraction(b, a, 1.0 - x) / b;
}

double slope_of_gamma_draw(double shape, double x) {
  if (!(x > 0.0)) return 0.0;
  const double step = shape * kStep;
  const double change = gamma_share(shape + step, x) - gamma_share(shape - step, x);
  const double log_density = (shape - 1.0) * std::log(x) - x - std::lgamma(shape);
  return -change / (2.0 * step) * std::exp(-log_density);
}

double slope_of_dirichlet_draw(double x, double concentration, double total) {
  const double others = total - concentration;
  if (!(x > 0.0) || !(x < 1.0) || !(others > 0.0)) return 0.0;
  const double step = concentration * kStep;
  const double change =
      beta_share(concentration + step, others, x) - beta_share(concentration - step, others, x);
  const double log_density = (concentration - 1.0) * std::log(x) + (others - 1.0) * std::log1p(-x) -
                             log_beta(concentration, others);
  return -change / (2.0 * step) * std::exp(-log_density) / (1.0 - x);
}

}  // namespace ohm::distributions
