// A line search for the strong Wolfe conditions: along a direction d from x, with
// φ(t) = f(x + t·d), it looks for a step t at which
//
//   φ(t) ≤ φ(0) + 1e-4 · t · φ'(0)   and   |φ'(t)| ≤ −0.9 · φ'(0)
//
// Steps that are too short grow by cubic interpolation until two of them bracket such a point; then
// the bracket shrinks around it.
#pragma once

#include <cstdint>
#include <functional>

#include "runtime/optim/step_number.h"

namespace ohm::optim {

/// What is known of a point: the loss, and its gradient as one vector.
struct EvaluatedPoint {
  double loss = 0.0;
  Tensor gradient;
};

/// The point at a step; x is what it was afterwards.
using LineObjective = std::function<EvaluatedPoint(const StepNumber& step)>;

struct LineSearchStart {
  StepNumber step;  ///< that is tried first
  const Tensor& direction;
  double loss;               ///< at x
  const Tensor& gradient;    ///< at x
  StepNumber slope;          ///< gradient · direction
  std::int64_t evaluations;  ///< that may be made after the first
};

struct LineSearchResult {
  StepNumber step;
  double loss = 0.0;
  Tensor gradient;
  std::int64_t evaluations = 0;
};

LineSearchResult search_line(const LineObjective& objective, const LineSearchStart& start);

}  // namespace ohm::optim
