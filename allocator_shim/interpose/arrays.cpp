#include "allocator_shim/interpose/arrays.h"

#include <algorithm>

#include "allocator_shim/interpose/contexts.h"
#include "allocator_shim/interpose/gpu_system.h"

namespace ohm::interpose {
namespace {

constexpr int kBitsPerByte = 8;
constexpr unsigned kArrayFlags = kArrayLayered | kArraySurface | kArrayCubemap | kArrayGather;
/// NVIDIA's limits of every architecture since Kepler.
constexpr std::size_t kMostWidth = 131072;
constexpr std::size_t kMostHeight = 65536;
constexpr std::size_t kMostDepth = 16384;

/// nullopt: it is no format of elements.
std::optional<std::size_t> element_bytes_of(const ChannelFormat& format) {
  const int first = format.bits[0];
  if (first != 8 && first != 16 && first != 32) return std::nullopt;
  std::size_t channels = 0;
  for (const int bits : format.bits) {
    if (bits == 0) break;
    if (bits != first) return std::nullopt;
    ++channels;
  }
  const bool has_gap = std::any_of(format.bits.begin() + static_cast<std::ptrdiff_t>(channels),
                                   format.bits.end(), [](int bits) { return bits != 0; });
  if (channels == 3 || has_gap) return std::nullopt;
  return channels * static_cast<std::size_t>(first / kBitsPerByte);
}

bool is_extent(const Extent& extent, unsigned flags) {
  const bool has_layers = (flags & (kArrayLayered | kArrayCubemap)) != 0;
  const bool is_volume = extent.depth > 0 && !has_layers;
  if (is_volume && extent.height == 0) return false;
  if (is_volume) {
    return std::max({extent.width, extent.height, extent.depth}) <= kMostDepth && extent.width > 0;
  }
  return extent.width > 0 && extent.width <= kMostWidth && extent.height <= kMostHeight &&
         extent.depth <= kMostDepth;
}

}  // namespace

HandlePool<Array>& arrays() {
  static HandlePool<Array> pool;
  return pool;
}

HandlePool<MipmappedArray>& mipmapped_arrays() {
  static HandlePool<MipmappedArray> pool;
  return pool;
}

void forget_arrays(int device) {
  arrays().destroy_if([device](const Array& array) { return array.device == device; });
  mipmapped_arrays().destroy_if(
      [device](const MipmappedArray& array) { return array.device == device; });
}

Status make_array(Array*& array, const ChannelFormat& format, const Extent& extent,
                  unsigned flags) {
  array = nullptr;
  const std::optional<std::size_t> element_bytes = element_bytes_of(format);
  if (!element_bytes) return Status::invalid_channel;
  if ((flags & ~kArrayFlags) != 0 || !is_extent(extent, flags)) return Status::invalid_value;
  Array made = {0, gpus().current(), format, extent, flags, *element_bytes};
  const Status status = gpus().allocate(gpus().current(), made.slice_bytes() * made.slices(),
                                        current_context(), made.address);
  if (status != Status::success) return status;
  array = arrays().create(made);
  return array != nullptr ? Status::success : Status::out_of_memory;
}

Status free_array(Array* array) {
  if (!arrays().is_alive(array)) return Status::invalid_value;
  const DeviceAddress address = array->address;
  arrays().destroy(array);
  return free_when_finished(address);
}

std::optional<CopyEnd> part_of_array(const Array* array, std::size_t offset, std::size_t first_row,
                                     std::size_t first_slice, std::size_t row_bytes,
                                     std::size_t rows, std::size_t slices) {
  if (!arrays().is_alive(array)) return std::nullopt;
  const bool fits = offset <= array->row_bytes() && row_bytes <= array->row_bytes() - offset &&
                    first_row <= array->rows() && rows <= array->rows() - first_row &&
                    first_slice <= array->slices() && slices <= array->slices() - first_slice;
  if (!fits) return std::nullopt;
  return CopyEnd{
      array->data() + first_slice * array->slice_bytes() + first_row * array->row_bytes() + offset,
      array->row_bytes(), array->slice_bytes()};
}

Status copy_slices(const CopyEnd& to, const CopyEnd& from, std::size_t row_bytes, std::size_t rows,
                   std::size_t slices, Direction direction) {
  Status status = Status::success;
  for (std::size_t slice = 0; slice < slices && status == Status::success; ++slice) {
    status =
        copy_rows(to.begin + slice * to.slice_bytes, to.pitch,
                  from.begin + slice * from.slice_bytes, from.pitch, row_bytes, rows, direction);
  }
  return status;
}

}  // namespace ohm::interpose
