// Ops on a CUDA device beside the same ops on the host, in float64: results and gradients.
#pragma once

#include <cstddef>
#include <vector>

#include "tests/truth/op_call.h"
#include "tests/truth/truth_table.h"

namespace ohm::truth {

/// A row for each call and dtype. The machine with the device is installed. A call that the host
/// refuses for a dtype has no row for it; one that it refuses for all was not run.
std::vector<Row> op_truth(const std::vector<OpCall>& calls, const std::vector<DType>& dtypes);

/// A row for each call and dtype of whole numbers that the host computes in it: the same on both.
std::vector<Row> whole_number_truth(const std::vector<OpCall>& calls);

/// Kernels over more than 2^31 elements, where `free_bytes` of the device hold them; otherwise rows
/// that say so.
std::vector<Row> large_truth(std::size_t free_bytes);

}  // namespace ohm::truth
