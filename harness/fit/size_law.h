// The law by which the size of one request depends on the value: a constant, a line or a parabola
// through what was recorded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace ohm::engine {

/// Between what a size is at least and at most, as far as the recorded ones tell.
struct SizeRange {
  std::int64_t least = 0;
  std::int64_t likely = 0;
  std::int64_t most = 0;
};

enum class SizeShape : std::uint8_t {
  constant,
  line,       ///< fixed bytes + bytes for each unit, through every recorded size
  curve,      ///< a parabola through every recorded size
  irregular,  ///< none of them: the line through the ends, and how far sizes may be from it
};

class SizeLaw {
 public:
  /// `values` positive and ascending, at least two; a size for each.
  SizeLaw(std::span<const std::int64_t> values, std::span<const std::int64_t> sizes);

  SizeShape shape() const { return shape_; }
  /// Whether more sizes were recorded than the shape has coefficients.
  bool is_checked() const { return is_checked_; }
  /// Of a constant and a line.
  double fixed_bytes() const { return line_at(0); }
  double bytes_per_unit() const { return slope_; }

  /// Never below one byte. What is not a constant, line or curve has a range: two sizes that grow
  /// faster than the value may be of a parabola, and so may those that are off the line.
  SizeRange at(std::int64_t value) const;

 private:
  using Numbers = std::span<const std::int64_t>;

  void take_two();
  void take_many(Numbers values, Numbers sizes);
  double line_at(double value) const { return start_ + slope_ * (value - first_); }
  /// Zero at the first and the last recorded value: what a curvature is multiplied with.
  double bend_at(double value) const { return (value - first_) * (value - last_); }
  void be_curve(double curvature);

  struct Curvature {
    double least = 0;
    double likely = 0;
    double most = 0;
  };

  SizeShape shape_ = SizeShape::constant;
  bool is_checked_ = false;
  double first_ = 0;  ///< value
  double last_ = 0;   ///< value
  double start_ = 0;  ///< bytes at the first value
  double slope_ = 0;
  Curvature curvature_;
  double largest_residual_ = 0;  ///< bytes, of the irregular
};

}  // namespace ohm::engine
