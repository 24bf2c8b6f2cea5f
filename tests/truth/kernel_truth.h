// The kernels of the build, one by one, beside their twins on the host.
#pragma once

#include <vector>

#include "runtime/tensor/cuda_backend.h"
#include "tests/truth/truth_table.h"

namespace ohm::truth {

/// A row for each kernel and dtype. Pre-condition: there are kernels. Throws cuda::DriverError.
std::vector<Row> kernel_truth(const CudaBackend& backend);

}  // namespace ohm::truth
