// The samples that vmap stands for as a part of another dimension: where a kernel has room for one
// dimension of images alone, they are images more. Views where the memory allows it.
#pragma once

#include <cstdint>

#include "runtime/tensor/tensor.h"

namespace ohm::ops {

/// The first dimension becomes the slower part of what is dimension `dim` without it.
Tensor join_samples(const Tensor& tensor, int dim);

/// Undoes it, with the samples in front.
Tensor split_samples(const Tensor& tensor, int dim, std::int64_t samples);

}  // namespace ohm::ops
