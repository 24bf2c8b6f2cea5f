// Sums of products written with letters.
#pragma once

#include <string>
#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// "ij,jk->ik": a letter names a dimension; one that does not stand behind the arrow is summed
/// over. Without an arrow the result has the letters that occur once, in alphabetical order. One
/// operand or several, which are taken from the left; no "..." and no letter twice in one operand.
Tensor einsum(const std::string& equation, const std::vector<Tensor>& operands);

std::vector<OpDef> einsum_ops();

}  // namespace ohm::ops
