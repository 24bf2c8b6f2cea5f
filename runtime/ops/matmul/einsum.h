// Sums of products written with letters.
#pragma once

#include <string>
#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// "ij,jk->ik": a letter names a dimension; one that does not stand behind the arrow is summed
/// over. Without an arrow the result has the letters that occur once, in alphabetical order. A
/// letter that stands twice in one operand is its diagonal; "..." stands for dimensions without a
/// letter. One operand or several, which are multiplied from the left. Throws std::invalid_argument
/// where there are more than kMaxDims letters, or sizes do not fit.
Tensor einsum(const std::string& equation, const std::vector<Tensor>& operands);

std::vector<OpDef> einsum_ops();

}  // namespace ohm::ops
