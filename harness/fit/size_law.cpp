#include "harness/fit/size_law.h"

#include <algorithm>
#include <cmath>

namespace ohm::engine {

namespace {

/// Sizes are whole numbers: two that are nearer than this are the same.
constexpr double kSame = 0.5;

}  // namespace

SizeLaw::SizeLaw(Numbers values, Numbers sizes)
    : is_checked_(values.size() > 2),
      first_(static_cast<double>(values.front())),
      last_(static_cast<double>(values.back())),
      start_(static_cast<double>(sizes.front())),
      slope_(static_cast<double>(sizes.back() - sizes.front()) / (last_ - first_)) {
  const bool is_constant =
      std::all_of(sizes.begin(), sizes.end(), [&](std::int64_t size) { return size == sizes[0]; });
  if (is_constant) {
    is_checked_ = true;
  } else if (values.size() == 2) {
    take_two();
  } else {
    take_many(values, sizes);
  }
}

/// Tensors are products: one that has less than nothing beside what grows with the value is none of
/// the value alone.
void SizeLaw::take_two() {
  shape_ = SizeShape::line;
  if (fixed_bytes() > -kSame) return;
  const double curvature = -fixed_bytes() / bend_at(0);
  const double linear_part = slope_ - curvature * (first_ + last_);
  if (std::abs(linear_part) * last_ < kSame) {  // of the square of the value alone
    be_curve(curvature);
  } else {
    shape_ = SizeShape::irregular;
    curvature_ = {0, 0, curvature};
  }
}

void SizeLaw::take_many(Numbers values, Numbers sizes) {
  Curvature seen;
  for (std::size_t i = 1; i + 1 < values.size(); ++i) {
    const auto value = static_cast<double>(values[i]);
    const double residual = static_cast<double>(sizes[i]) - line_at(value);
    const double curvature = residual / bend_at(value);
    seen.least = i == 1 ? curvature : std::min(seen.least, curvature);
    seen.most = i == 1 ? curvature : std::max(seen.most, curvature);
    largest_residual_ = std::max(largest_residual_, std::abs(residual));
  }
  if (largest_residual_ < kSame) {
    shape_ = SizeShape::line;
    largest_residual_ = 0;
    return;
  }
  const double widest = std::abs(bend_at((first_ + last_) / 2));
  const bool is_one_curve = (seen.most - seen.least) * widest < kSame && seen.least > 0;
  if (is_one_curve) {
    be_curve(seen.least);
    is_checked_ = values.size() > 3;
    if (!is_checked_) curvature_.least = 0;
    largest_residual_ = 0;
    return;
  }
  shape_ = SizeShape::irregular;
  curvature_ = {std::min(0.0, seen.least), 0, std::max(0.0, seen.most)};
}

void SizeLaw::be_curve(double curvature) {
  shape_ = SizeShape::curve;
  curvature_ = {curvature, curvature, curvature};
}

SizeRange SizeLaw::at(std::int64_t value) const {
  const auto v = static_cast<double>(value);
  const double bend = bend_at(v);
  const auto size_with = [&](double curvature, double more) {
    constexpr double kMost = 4e18;  // beyond it there are no whole numbers of bytes
    const double size = std::clamp(line_at(v) + curvature * bend + more, 1.0, kMost);
    return std::int64_t{std::llround(size)};
  };
  // Between the recorded values what is multiplied is negative.
  const double low = bend < 0 ? curvature_.most : curvature_.least;
  const double high = bend < 0 ? curvature_.least : curvature_.most;
  return {size_with(low, -largest_residual_), size_with(curvature_.likely, 0),
          size_with(high, largest_residual_)};
}

}  // namespace ohm::engine
