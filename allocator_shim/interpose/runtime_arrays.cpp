// CUDA's runtime: arrays, and copies to and from them and in three dimensions.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <utility>

#include "allocator_shim/interpose/arrays.h"
#include "allocator_shim/interpose/copies.h"
#include "allocator_shim/interpose/entry_call.h"
#include "allocator_shim/interpose/exported.h"
#include "allocator_shim/interpose/gpu_system.h"
#include "allocator_shim/interpose/status.h"
#include "allocator_shim/interpose/volume_copy.h"
#include "allocator_shim/interpose/work_in_flight.h"

using namespace ohm::interpose;

namespace {

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
    return copy_part(part_of_array(to, offset, first_row, 0, row_bytes, rows, 1),
                     memory_at(from, pitch), row_bytes, rows, way);
  }
};

struct FromArray {
  void* to;
  std::size_t pitch;
  const Array* from;
  std::size_t offset, first_row, row_bytes, rows;

  Status copy(Direction way) const {
    return copy_part(memory_at(to, pitch),
                     part_of_array(from, offset, first_row, 0, row_bytes, rows, 1), row_bytes, rows,
                     way);
  }
};

/// Bytes of an array's first slice, which go on from row to row; nullptr: they are beyond it.
std::byte* run_of_array(const Array* array, std::size_t offset, std::size_t row,
                        std::size_t bytes) {
  if (!arrays().is_alive(array) || row > array->rows()) return nullptr;
  const std::size_t begin = row * array->row_bytes() + offset;
  const bool fits = begin <= array->slice_bytes() && bytes <= array->slice_bytes() - begin;
  return fits ? array->data() + begin : nullptr;
}

/// One end of a copy of so many bytes: an array, or memory.
struct RunEnd {
  const Array* array;
  std::size_t offset, row;
  void* memory;

  std::byte* place(std::size_t bytes) const {
    if (array == nullptr) return static_cast<std::byte*>(memory);
    return run_of_array(array, offset, row, bytes);
  }
};
struct RunCopy {
  RunEnd to, from;
  std::size_t bytes;

  Status copy(Direction way) const {
    return ohm::interpose::copy(to.place(bytes), from.place(bytes), bytes, way);
  }
};

RunCopy run_to_array(const Array* to, std::size_t offset, std::size_t row, const void* from,
                     std::size_t bytes) {
  return {{to, offset, row, nullptr}, {nullptr, 0, 0, const_cast<void*>(from)}, bytes};
}

RunCopy run_from_array(void* to, const Array* from, std::size_t offset, std::size_t row,
                       std::size_t bytes) {
  return {{nullptr, 0, 0, to}, {from, offset, row, nullptr}, bytes};
}

/// Two dimensions of cudaMemcpy2DArrayToArray.
struct BetweenArrays {
  const Array* to;
  std::size_t to_offset, to_row;
  const Array* from;
  std::size_t from_offset, from_row, row_bytes, rows;

  Status copy(Direction way) const {
    return copy_part(part_of_array(to, to_offset, to_row, 0, row_bytes, rows, 1),
                     part_of_array(from, from_offset, from_row, 0, row_bytes, rows, 1), row_bytes,
                     rows, way);
  }
};

bool stays_on_device(Direction way) {
  return way == Direction::device_to_device || way == Direction::unified;
}

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
  return noted(on_stream(stream, [what, way] { return what.copy(*way); }));
}

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

/// Half of each dimension that is there. Layers stay as many.
Extent half_of(const Extent& extent, unsigned flags) {
  const auto half = [](std::size_t size) {
    return size == 0 ? 0 : std::max<std::size_t>(size / 2, 1);
  };
  const bool has_layers = (flags & (kArrayLayered | kArrayCubemap)) != 0;
  return {half(extent.width), half(extent.height), has_layers ? extent.depth : half(extent.depth)};
}

/// All of them, or none.
Status make_levels(MipmappedArray& array, const ChannelFormat& format, Extent extent,
                   unsigned flags, unsigned levels) {
  for (unsigned level = 0; level < levels; ++level) {
    Array* made = nullptr;
    const Status status = make_array(made, format, extent, flags);
    if (status != Status::success) {
      for (Array* one : array.levels) free_array(one);
      return status;
    }
    array.levels.push_back(made);
    extent = half_of(extent, flags);
  }
  return Status::success;
}

}  // namespace

OHM_EXPORTED ChannelFormat cudaCreateChannelDesc(int x, int y, int z, int w, int kind) {
  return {{x, y, z, w}, kind};
}

OHM_EXPORTED Status cudaMalloc3DArray(Array** array, const ChannelFormat* format, Extent extent,
                                      unsigned flags) {
  OHM_RUNTIME_CALL;
  if (array == nullptr || format == nullptr) return noted(Status::invalid_value);
  return noted(make_array(*array, *format, extent, flags));
}

OHM_EXPORTED Status cudaMallocArray(Array** array, const ChannelFormat* format, std::size_t width,
                                    std::size_t height, unsigned flags) {
  OHM_RUNTIME_CALL;
  return cudaMalloc3DArray(array, format, {width, height, 0}, flags);
}

OHM_EXPORTED Status cudaFreeArray(Array* array) {
  OHM_RUNTIME_CALL;
  return array == nullptr ? Status::success : noted(free_array(array));
}

/// The number of levels is brought into the range that an extent has.
OHM_EXPORTED Status cudaMallocMipmappedArray(MipmappedArray** array, const ChannelFormat* format,
                                             Extent extent, unsigned levels, unsigned flags) {
  OHM_RUNTIME_CALL;
  if (array == nullptr || format == nullptr) return noted(Status::invalid_value);
  *array = nullptr;
  const std::size_t depth = (flags & (kArrayLayered | kArrayCubemap)) != 0 ? 0 : extent.depth;
  const auto most = static_cast<unsigned>(
      std::bit_width(std::max({extent.width, extent.height, depth, std::size_t{1}})));
  MipmappedArray made = {gpus().current(), {}};
  const Status status = make_levels(made, *format, extent, flags, std::clamp(levels, 1U, most));
  if (status != Status::success) return noted(status);
  *array = mipmapped_arrays().create(std::move(made));
  return *array != nullptr ? Status::success : noted(Status::out_of_memory);
}

OHM_EXPORTED Status cudaFreeMipmappedArray(MipmappedArray* array) {
  OHM_RUNTIME_CALL;
  if (array == nullptr) return Status::success;
  if (!mipmapped_arrays().is_alive(array)) return noted(Status::invalid_value);
  for (Array* level : array->levels) free_array(level);
  mipmapped_arrays().destroy(array);
  return Status::success;
}

OHM_EXPORTED Status cudaGetMipmappedArrayLevel(Array** level, const MipmappedArray* array,
                                               unsigned number) {
  OHM_RUNTIME_CALL;
  const bool is_right =
      level != nullptr && mipmapped_arrays().is_alive(array) && number < array->levels.size();
  if (!is_right) return noted(Status::invalid_value);
  *level = array->levels[number];
  return Status::success;
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
      nullptr, [=] { return fill_slices(to, byte, extent); }, NodeType::fill));
}

OHM_EXPORTED Status cudaMemset3DAsync(PitchedPointer to, int byte, Extent extent, Stream* stream) {
  OHM_RUNTIME_CALL;
  return noted(on_stream(
      stream, [=] { return fill_slices(to, byte, extent); }, NodeType::fill));
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

OHM_EXPORTED Status cudaMemcpyToArray(Array* to, std::size_t offset, std::size_t row,
                                      const void* from, std::size_t bytes, int kind) {
  OHM_RUNTIME_CALL;
  return copy_now(run_to_array(to, offset, row, from, bytes), kind, leads_to_device);
}

OHM_EXPORTED Status cudaMemcpyToArrayAsync(Array* to, std::size_t offset, std::size_t row,
                                           const void* from, std::size_t bytes, int kind,
                                           Stream* stream) {
  OHM_RUNTIME_CALL;
  return copy_later(run_to_array(to, offset, row, from, bytes), kind, leads_to_device, stream);
}

OHM_EXPORTED Status cudaMemcpyFromArray(void* to, const Array* from, std::size_t offset,
                                        std::size_t row, std::size_t bytes, int kind) {
  OHM_RUNTIME_CALL;
  return copy_now(run_from_array(to, from, offset, row, bytes), kind, leads_from_device);
}

OHM_EXPORTED Status cudaMemcpyFromArrayAsync(void* to, const Array* from, std::size_t offset,
                                             std::size_t row, std::size_t bytes, int kind,
                                             Stream* stream) {
  OHM_RUNTIME_CALL;
  return copy_later(run_from_array(to, from, offset, row, bytes), kind, leads_from_device, stream);
}

OHM_EXPORTED Status cudaMemcpyArrayToArray(Array* to, std::size_t to_offset, std::size_t to_row,
                                           const Array* from, std::size_t from_offset,
                                           std::size_t from_row, std::size_t bytes, int kind) {
  OHM_RUNTIME_CALL;
  const RunCopy copied = {
      {to, to_offset, to_row, nullptr}, {from, from_offset, from_row, nullptr}, bytes};
  return copy_now(copied, kind, stays_on_device);
}

OHM_EXPORTED Status cudaMemcpy2DArrayToArray(Array* to, std::size_t to_offset, std::size_t to_row,
                                             const Array* from, std::size_t from_offset,
                                             std::size_t from_row, std::size_t width,
                                             std::size_t height, int kind) {
  OHM_RUNTIME_CALL;
  const BetweenArrays copied = {to, to_offset, to_row, from, from_offset, from_row, width, height};
  return copy_now(copied, kind, stays_on_device);
}
