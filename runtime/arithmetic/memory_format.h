// The order in which images lie in memory: their pixels or their channels one behind the other.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "runtime/tensor/tensor.h"

namespace ohm {

enum class MemoryFormat : std::uint8_t {
  row_major,
  channels_last,     ///< of [N, C, H, W]: the channels of a pixel, then the next pixel
  channels_last_3d,  ///< the same of [N, C, D, H, W]
};

/// What PyTorch calls them, in the order of the enumeration.
inline constexpr std::array<std::string_view, 3> kMemoryFormats = {
    "contiguous_format", "channels_last", "channels_last_3d"};

/// The format of this name. Throws std::invalid_argument.
MemoryFormat parse_memory_format(std::string_view name);

/// The format that a kernel which knows all takes a tensor for, by the order of its strides alone:
/// one with gaps has a format, too. Row-major where both would do, and for what has neither four
/// nor five dimensions.
MemoryFormat memory_format_of(const Tensor& tensor);

/// That of tensors which are put together: channels come last where they do in all of them.
/// Pre-condition: there is one.
MemoryFormat common_memory_format(const std::vector<Tensor>& tensors);

/// Whether the elements lie in this format without gaps.
bool lies_in(const Tensor& tensor, MemoryFormat format);

/// Strides without gaps. Throws std::invalid_argument where channels are to come last and there are
/// other dimensions than those of the format.
Shape strides_in(MemoryFormat format, const Shape& shape);

}  // namespace ohm
