// Products of matrices that are added to what is there, or summed over a batch.
#pragma once

#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// beta · input + alpha · the sum of [m, k] · [k, n] over a batch; the input broadcasts to [m, n].
/// In place: addmm_, baddbmm_ and addbmm_, whose input has the shape of the result.
std::vector<OpDef> added_product_ops();

}  // namespace ohm::ops
