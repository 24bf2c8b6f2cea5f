// Two sums that one walk through a row adds up: for nvcc and the host alike.
#pragma once

namespace ohm::functors {

struct TwoSums {
  double first = 0.0;
  double second = 0.0;

  constexpr TwoSums operator+(const TwoSums& other) const {
    return {first + other.first, second + other.second};
  }
};

}  // namespace ohm::functors
