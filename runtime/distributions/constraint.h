// Constraints: what the parameters and the samples of a distribution have to be.
#pragma once

#include <functional>
#include <string>

#include "runtime/tensor/tensor.h"

namespace ohm::distributions {

struct Constraint {
  /// Bools: where a tensor is as it has to be.
  std::function<Tensor(const Tensor& value)> check;
  std::string description;  ///< as PyTorch prints it: "Interval(lower_bound=0.0, upper_bound=1.0)"
};

/// Not NaN.
Constraint real();
Constraint real_vector();
Constraint positive();
Constraint nonnegative();
Constraint unit_interval();
Constraint boolean();
/// Not negative, and with a sum of 1 along the last dimension.
Constraint simplex();
/// One 1 along the last dimension, and else zeros.
Constraint one_hot();
Constraint integer_interval(std::int64_t lowest, std::int64_t highest);
Constraint interval(const Tensor& low, const Tensor& high);
/// Of the last `dims` dimensions together.
Constraint independent(const Constraint& base, int dims);

/// What a number is; on size-only devices true.
bool is_true(const Tensor& answer);
/// Whether all of `valid`, bools, are true; on size-only devices they are. Allocates what reading
/// them does.
bool all_true(const Tensor& valid);

}  // namespace ohm::distributions
