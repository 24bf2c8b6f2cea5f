// CUDA arrays: memory of a device that programs know by a handle, for textures and surfaces.
//
// A card lays elements out in tiles whose padding is not known: here an array takes the bytes of
// its elements, row after row, and what cudaMalloc rounds them up to.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "allocator_shim/device/device_memory.h"
#include "allocator_shim/interpose/copies.h"
#include "allocator_shim/interpose/handle_pool.h"
#include "allocator_shim/interpose/status.h"

namespace ohm::interpose {

/// cudaPitchedPtr.
struct PitchedPointer {
  void* pointer;
  std::size_t pitch, width, height;
};

/// cudaExtent: of an array in elements, and 0 in dimensions that it does not have.
struct Extent {
  std::size_t width, height, depth;
};

/// cudaChannelFormatDesc.
struct ChannelFormat {
  std::array<int, 4> bits;
  int kind;
};

/// Behind cudaArray_t.
struct Array {
  DeviceAddress address = 0;
  int device = 0;
  ChannelFormat format = {};
  Extent extent = {};
  unsigned flags = 0;
  std::size_t element_bytes = 0;

  std::byte* data() const { return reinterpret_cast<std::byte*>(address); }
  std::size_t row_bytes() const { return extent.width * element_bytes; }
  std::size_t rows() const { return extent.height == 0 ? 1 : extent.height; }
  std::size_t slices() const { return extent.depth == 0 ? 1 : extent.depth; }
  std::size_t slice_bytes() const { return row_bytes() * rows(); }
};

inline constexpr unsigned kArrayLayered = 1;
inline constexpr unsigned kArraySurface = 2;
inline constexpr unsigned kArrayCubemap = 4;
inline constexpr unsigned kArrayGather = 8;

HandlePool<Array>& arrays();
/// The memory of a GPU is freed: arrays there are gone.
void forget_arrays(int device);

/// Fails with invalid_channel where a format is none, and with invalid_value where an extent or
/// flags are none.
Status make_array(Array*& array, const ChannelFormat& format, const Extent& extent, unsigned flags);
/// invalid_value: there is none.
Status free_array(Array* array);

/// Sizes of an array, each half of the one before. The array owns them.
struct MipmappedArray {
  int device = 0;
  std::vector<Array*> levels;
};
HandlePool<MipmappedArray>& mipmapped_arrays();

/// One end of a copy in three dimensions: where it begins, and what leads to the next row and
/// slice.
struct CopyEnd {
  std::byte* begin;
  std::size_t pitch, slice_bytes;
};

/// Where rows of so many bytes begin in an array, `offset` bytes into each; nullopt: it is none, or
/// they are beyond it.
std::optional<CopyEnd> part_of_array(const Array* array, std::size_t offset, std::size_t first_row,
                                     std::size_t first_slice, std::size_t row_bytes,
                                     std::size_t rows, std::size_t slices);

/// As cudaMemcpy3D, of rows of so many bytes.
Status copy_slices(const CopyEnd& to, const CopyEnd& from, std::size_t row_bytes, std::size_t rows,
                   std::size_t slices, Direction direction);

}  // namespace ohm::interpose
