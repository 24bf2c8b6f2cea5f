// Tensors in a memory format: new ones and copies.
#pragma once

#include "runtime/arithmetic/factories.h"
#include "runtime/arithmetic/memory_format.h"

namespace ohm {

/// Uninitialised, in this format. Pre-condition: four dimensions where channels come last.
Tensor empty(const Shape& shape, const TensorOptions& options, MemoryFormat format);

/// `tensor` itself where it lies in this format, else a copy that does, apart from any graph.
Tensor laid_out(const Tensor& tensor, MemoryFormat format);

}  // namespace ohm
