// The ops of all families, in order and by name. To add an op: write it in the folder of its
// family, with its row; a new pair of files there is a row of op_list.cpp.
#pragma once

#include <string_view>
#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// All ops, family by family. Made at the first call.
const std::vector<OpDef>& all_ops();

/// nullptr when there is no such op.
const OpDef* find_op(std::string_view name);

}  // namespace ohm::ops
