// Probabilities and their logarithms.
#pragma once

#include "runtime/tensor/tensor.h"

namespace ohm::distributions {

/// Of what the probabilities are: of one of two outcomes each, or of all along the last dimension.
enum class Outcomes : bool { many, two };

/// The sigmoid, or the softmax along the last dimension.
Tensor logits_to_probs(const Tensor& logits, Outcomes outcomes);
/// What it undoes, of probabilities a bit away from 0 and 1.
Tensor probs_to_logits(const Tensor& probs, Outcomes outcomes);

/// tensor[mask] = value
void assign_where(const Tensor& tensor, const Tensor& mask, double value);

}  // namespace ohm::distributions
