// Differences of neighbours along a dimension.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// input[i + 1] − input[i] along `dim`, `n` times, of the input with what is put before and behind
/// it. Booleans: whether neighbours differ. Made of views and differences.
Tensor diff(const Tensor& input, std::int64_t n, std::int64_t dim,
            const std::optional<Tensor>& prepend, const std::optional<Tensor>& append);

std::vector<OpDef> difference_ops();

}  // namespace ohm::ops
