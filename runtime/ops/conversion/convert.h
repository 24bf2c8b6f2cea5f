// Moving tensors between dtypes and devices.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/arithmetic/memory_format.h"
#include "runtime/ops/op.h"

namespace ohm::ops {

/// The tensor itself when it has the dtype; else a copy with its layout. The gradient is cast back.
Tensor to_dtype(const Tensor& input, DType dtype);
/// The tensor itself when it is there; else a copy, with its layout when that is dense. The
/// gradient is copied back.
Tensor to_device(const Tensor& input, Device device);

/// Whether the host waits for a copy between it and a GPU.
enum class Transfer : std::uint8_t { blocking, non_blocking };

/// Both in one copy. Between host and GPU, a copy that also casts does so on the host: its side of
/// the copy takes a temporary. A non-blocking one casts on the GPU, with the temporary there;
/// pinned memory that it reads or writes waits for it, and a result on the host is in such
/// memory.
/// Where `format` is given, so is its layout: a tensor whose strides are in another order is
/// copied.
Tensor to(const Tensor& input, std::optional<Device> device, std::optional<DType> dtype,
          Transfer transfer = Transfer::blocking,
          std::optional<MemoryFormat> format = std::nullopt);
/// A copy in pinned memory of the host, outside any graph; the tensor itself when it is there
/// already. Throws std::invalid_argument for a tensor that is not on the host.
Tensor pin_memory(const Tensor& input);
/// A copy of its own, in the graph.
Tensor clone(const Tensor& input);
/// The same, row-major or in any format of images.
Tensor clone_row_major(const Tensor& input);
Tensor clone_in(const Tensor& input, MemoryFormat format);
/// The tensor itself when row-major, else a row-major copy.
Tensor contiguous(const Tensor& input);
/// The same for any format of images.
Tensor contiguous(const Tensor& input, MemoryFormat format);
/// Writes `source` into `input`; the gradient goes to `source`.
Tensor copy_(const Tensor& input, const Tensor& source);

std::vector<OpDef> convert_ops();

}  // namespace ohm::ops
