// Reductions of the tensors of several ranks.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "runtime/tensor/tensor.h"

namespace ohm::parallel {

/// torch.distributed.ReduceOp.
enum class Reduction : std::uint8_t { sum, avg, product, min, max };

/// "SUM".
std::string_view name_of(Reduction reduction);
/// Throws std::invalid_argument for dtypes that a collective cannot reduce so.
void require_reducible(std::string_view collective, Reduction reduction, DType dtype);

/// `target`, of as many elements as each of `sources`, becomes their reduction. It may be one of
/// them. Takes no memory.
void reduce_into(const Tensor& target, const std::vector<Tensor>& sources, Reduction reduction);

}  // namespace ohm::parallel
