// CUDA's runtime: arrays, and copies to and from them and in three dimensions.
#include "allocator_shim/interpose/arrays.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "allocator_shim/interpose/contexts.h"
#include "allocator_shim/interpose/copies.h"
#include "allocator_shim/interpose/entry_call.h"
#include "allocator_shim/interpose/exported.h"
#include "allocator_shim/interpose/gpu_system.h"
#include "allocator_shim/interpose/status.h"
#include "allocator_shim/interpose/work_in_flight.h"

namespace ohm::interpose {

HandlePool<Array>& arrays() {
  static HandlePool<Array> pool;
  return pool;
}

void forget_arrays(int device) {
  arrays().destroy_if([device](const Array& array) { return array.device == device; });
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

using namespace ohm::interpose;

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

Status make_array(Array** handle, const ChannelFormat* format, const Extent& extent,
                  unsigned flags) {
  if (handle == nullptr || format == nullptr) return Status::invalid_value;
  *handle = nullptr;
  const std::optional<std::size_t> element_bytes = element_bytes_of(*format);
  if (!element_bytes) return Status::invalid_channel;
  if ((flags & ~kArrayFlags) != 0 || !is_extent(extent, flags)) return Status::invalid_value;
  Array made = {0, gpus().current(), *format, extent, flags, *element_bytes};
  const Status status = gpus().allocate(gpus().current(), made.slice_bytes() * made.slices(),
                                        current_context(), made.address);
  if (status != Status::success) return status;
  *handle = arrays().create(made);
  return *handle != nullptr ? Status::success : Status::out_of_memory;
}

/// A part of one slice, of rows of so many bytes that begin `offset` bytes into it.
std::optional<CopyEnd> part_of(const Array* array, std::size_t offset, std::size_t first_row,
                               std::size_t row_bytes, std::size_t rows) {
  if (!arrays().is_alive(array)) return std::nullopt;
  const bool fits = offset <= array->row_bytes() && row_bytes <= array->row_bytes() - offset &&
                    first_row <= array->rows() && rows <= array->rows() - first_row;
  if (!fits) return std::nullopt;
  return CopyEnd{array->data() + first_row * array->row_bytes() + offset, array->row_bytes(),
                 array->slice_bytes()};
}

/// Memory, of which nothing is known but its address.
CopyEnd memory_at(const void* pointer, std::size_t pitch) {
  return {static_cast<std::byte*>(const_cast<void*>(pointer)), pitch, 0};
}

bool leads_to_device(Direction way) {
  return way != Direction::host_to_host && way != Direction::device_to_host;
}
bool leads_from_device(Direction way) {
  return way != Direction::host_to_host && way != Direction::host_to_device;
}

/// nullopt: no direction has this number, or it is none that `is_possible`.
std::optional<Direction> direction_of(int kind, bool (*is_possible)(Direction)) {
  if (kind < 0 || kind > static_cast<int>(Direction::unified)) return std::nullopt;
  const auto way = static_cast<Direction>(kind);
  return is_possible(way) ? std::optional(way) : std::nullopt;
}

/// Of one slice.
Status copy_part(const std::optional<CopyEnd>& to, const std::optional<CopyEnd>& from,
                 std::size_t row_bytes, std::size_t rows, Direction way) {
  if (!to || !from) return Status::invalid_value;
  return copy_slices(*to, *from, row_bytes, rows, 1, way);
}

/// Two dimensions of cudaMemcpy2DToArray.
struct ToArray {
  Array* to;
  std::size_t offset, first_row;
  const void* from;
  std::size_t pitch, row_bytes, rows;

  Status copy(Direction way) const {
    return copy_part(part_of(to, offset, first_row, row_bytes, rows), memory_at(from, pitch),
                     row_bytes, rows, way);
  }
};

struct FromArray {
  void* to;
  std::size_t pitch;
  const Array* from;
  std::size_t offset, first_row, row_bytes, rows;

  Status copy(Direction way) const {
    return copy_part(memory_at(to, pitch), part_of(from, offset, first_row, row_bytes, rows),
                     row_bytes, rows, way);
  }
};

template <typename Copy>
Status copy_now(const Copy& what, int kind, bool (*is_possible)(Direction)) {
  const auto way = direction_of(kind, is_possible);
  if (!way) return noted(Status::invalid_copy_direction);
  return noted(waited_for(*way, [&] { return what.copy(*way); }));
}

template <typename Copy>
Status copy_later(const Copy& what, int kind, bool (*is_possible)(Direction), Stream* stream) {
  const auto way = direction_of(kind, is_possible);
  if (!way) return noted(Status::invalid_copy_direction);
  return noted(on_stream(stream, [&] { return what.copy(*way); }));
}

/// cudaPos, in elements of an array or in bytes.
struct Position {
  std::size_t x, y, z;
};

/// cudaMemcpy3DParms.
struct VolumeCopy {
  Array* from_array;
  Position from_position;
  PitchedPointer from;
  Array* to_array;
  Position to_position;
  PitchedPointer to;
  Extent extent;
  int kind;

  /// Both ends are given, each in one way, with elements of one size.
  bool is_whole() const {
    const auto is_end = [](const Array* array, const PitchedPointer& pointer) {
      return (array != nullptr) != (pointer.pointer != nullptr) &&
             (array == nullptr || arrays().is_alive(array));
    };
    if (!is_end(from_array, from) || !is_end(to_array, to)) return false;
    return from_array == nullptr || to_array == nullptr ||
           from_array->element_bytes == to_array->element_bytes;
  }

  std::size_t element_bytes() const {
    if (from_array != nullptr) return from_array->element_bytes;
    return to_array != nullptr ? to_array->element_bytes : 1;
  }

  /// nullopt: it is beyond the array.
  std::optional<CopyEnd> end_of(const Array* array, const PitchedPointer& pointer,
                                const Position& position) const {
    const std::size_t row_bytes = extent.width * element_bytes();
    if (array == nullptr) {
      const std::size_t slice = pointer.pitch * pointer.height;
      return CopyEnd{static_cast<std::byte*>(pointer.pointer) + position.z * slice +
                         position.y * pointer.pitch + position.x,
                     pointer.pitch, slice};
    }
    auto part =
        part_of(array, position.x * array->element_bytes, position.y, row_bytes, extent.height);
    const bool fits = position.z <= array->slices() && extent.depth <= array->slices() - position.z;
    if (!part || !fits) return std::nullopt;
    part->begin += position.z * array->slice_bytes();
    return part;
  }

  Status copy(Direction way) const {
    if (!is_whole()) return Status::invalid_value;
    const auto target = end_of(to_array, to, to_position);
    const auto source = end_of(from_array, from, from_position);
    if (!target || !source) return Status::invalid_value;
    return copy_slices(*target, *source, extent.width * element_bytes(), extent.height,
                       extent.depth, way);
  }
};

Status fill_slices(const PitchedPointer& to, int byte, const Extent& extent) {
  auto* const first = static_cast<std::byte*>(to.pointer);
  std::size_t slice_bytes = 0;
  if (__builtin_mul_overflow(to.pitch, to.height, &slice_bytes)) return Status::invalid_value;
  Status status = Status::success;
  for (std::size_t slice = 0; slice < extent.depth && status == Status::success; ++slice) {
    status = fill_rows(first + slice * slice_bytes, to.pitch, byte, extent.width, extent.height);
  }
  return status;
}

bool leads_anywhere(Direction /*way*/) { return true; }

}  // namespace

OHM_EXPORTED ChannelFormat cudaCreateChannelDesc(int x, int y, int z, int w, int kind) {
  return {{x, y, z, w}, kind};
}

OHM_EXPORTED Status cudaMallocArray(Array** array, const ChannelFormat* format, std::size_t width,
                                    std::size_t height, unsigned flags) {
  OHM_RUNTIME_CALL;
  return noted(make_array(array, format, {width, height, 0}, flags));
}

OHM_EXPORTED Status cudaMalloc3DArray(Array** array, const ChannelFormat* format, Extent extent,
                                      unsigned flags) {
  OHM_RUNTIME_CALL;
  return noted(make_array(array, format, extent, flags));
}

OHM_EXPORTED Status cudaFreeArray(Array* array) {
  OHM_RUNTIME_CALL;
  if (array == nullptr) return Status::success;
  if (!arrays().is_alive(array)) return noted(Status::invalid_value);
  const ohm::DeviceAddress address = array->address;
  arrays().destroy(array);
  return noted(free_when_finished(address));
}

OHM_EXPORTED Status cudaArrayGetInfo(ChannelFormat* format, Extent* extent, unsigned* flags,
                                     const Array* array) {
  OHM_RUNTIME_CALL;
  if (!arrays().is_alive(array)) return noted(Status::invalid_value);
  if (format != nullptr) *format = array->format;
  if (extent != nullptr) *extent = array->extent;
  if (flags != nullptr) *flags = array->flags;
  return Status::success;
}

OHM_EXPORTED Status cudaGetChannelDesc(ChannelFormat* format, const Array* array) {
  OHM_RUNTIME_CALL;
  if (format == nullptr || !arrays().is_alive(array)) return noted(Status::invalid_value);
  *format = array->format;
  return Status::success;
}

OHM_EXPORTED Status cudaMemcpy2DToArray(Array* to, std::size_t offset, std::size_t row,
                                        const void* from, std::size_t pitch, std::size_t width,
                                        std::size_t height, int kind) {
  OHM_RUNTIME_CALL;
  const ToArray copied = {to, offset, row, from, pitch, width, height};
  return copy_now(copied, kind, leads_to_device);
}

OHM_EXPORTED Status cudaMemcpy2DToArrayAsync(Array* to, std::size_t offset, std::size_t row,
                                             const void* from, std::size_t pitch, std::size_t width,
                                             std::size_t height, int kind, Stream* stream) {
  OHM_RUNTIME_CALL;
  const ToArray copied = {to, offset, row, from, pitch, width, height};
  return copy_later(copied, kind, leads_to_device, stream);
}

OHM_EXPORTED Status cudaMemcpy2DFromArray(void* to, std::size_t pitch, const Array* from,
                                          std::size_t offset, std::size_t row, std::size_t width,
                                          std::size_t height, int kind) {
  OHM_RUNTIME_CALL;
  const FromArray copied = {to, pitch, from, offset, row, width, height};
  return copy_now(copied, kind, leads_from_device);
}

OHM_EXPORTED Status cudaMemcpy2DFromArrayAsync(void* to, std::size_t pitch, const Array* from,
                                               std::size_t offset, std::size_t row,
                                               std::size_t width, std::size_t height, int kind,
                                               Stream* stream) {
  OHM_RUNTIME_CALL;
  const FromArray copied = {to, pitch, from, offset, row, width, height};
  return copy_later(copied, kind, leads_from_device, stream);
}

OHM_EXPORTED Status cudaMemset3D(PitchedPointer to, int byte, Extent extent) {
  OHM_RUNTIME_CALL;
  return noted(on_stream(
      nullptr, [&] { return fill_slices(to, byte, extent); }, NodeType::fill));
}

OHM_EXPORTED Status cudaMemset3DAsync(PitchedPointer to, int byte, Extent extent, Stream* stream) {
  OHM_RUNTIME_CALL;
  return noted(on_stream(
      stream, [&] { return fill_slices(to, byte, extent); }, NodeType::fill));
}

OHM_EXPORTED Status cudaMemcpy3D(const VolumeCopy* copied) {
  OHM_RUNTIME_CALL;
  if (copied == nullptr) return noted(Status::invalid_value);
  return copy_now(*copied, copied->kind, leads_anywhere);
}

OHM_EXPORTED Status cudaMemcpy3DAsync(const VolumeCopy* copied, Stream* stream) {
  OHM_RUNTIME_CALL;
  if (copied == nullptr) return noted(Status::invalid_value);
  return copy_later(*copied, copied->kind, leads_anywhere, stream);
}
