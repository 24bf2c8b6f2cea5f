// CUDA's driver: arrays, and copies in two and three dimensions.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "allocator_shim/interpose/arrays.h"
#include "allocator_shim/interpose/copies.h"
#include "allocator_shim/interpose/driver_copies.h"
#include "allocator_shim/interpose/entry_call.h"
#include "allocator_shim/interpose/exported.h"
#include "allocator_shim/interpose/gpu_system.h"
#include "allocator_shim/interpose/status.h"

using namespace ohm::interpose;

namespace {

/// nullopt: it is beyond an array, or rows overlap.
std::optional<CopyEnd> place_of_end(const SpaceEnd& end, const SpaceCopy& copied) {
  if (end.type == MemoryType::array) {
    return part_of_array(end.array, end.x_bytes, end.y, end.z, copied.row_bytes, copied.rows,
                         copied.slices);
  }
  // One row needs no pitch.
  const bool is_row = copied.rows == 1 && copied.slices == 1 && end.y == 0 && end.z == 0;
  const std::size_t pitch = end.pitch == 0 && is_row ? copied.row_bytes + end.x_bytes : end.pitch;
  if (pitch < copied.row_bytes + end.x_bytes) return std::nullopt;
  std::byte* const begin = end.type == MemoryType::host ? end.host : end.device;
  const std::size_t slice_bytes = pitch * end.rows;
  return CopyEnd{begin + end.z * slice_bytes + end.y * pitch + end.x_bytes, pitch, slice_bytes};
}

bool is_memory_type(MemoryType type) {
  return type >= MemoryType::host && type <= MemoryType::unified;
}

Status copy_space(const SpaceCopy& copied, Direction way) {
  const auto to = place_of_end(copied.to, copied);
  const auto from = place_of_end(copied.from, copied);
  if (!to || !from) return Status::invalid_value;
  const Status status = copy_slices(*to, *from, copied.row_bytes, copied.rows, copied.slices, way);
  return status == Status::invalid_pitch ? Status::invalid_value : status;
}

bool has_memory_types(const SpaceCopy& copied) {
  return is_memory_type(copied.from.type) && is_memory_type(copied.to.type);
}

Status copy_space_now(const SpaceCopy& copied) {
  if (!has_memory_types(copied)) return Status::invalid_value;
  const Direction way = direction_between(copied.from.type, copied.to.type);
  return waited_for(way, [&] { return copy_space(copied, way); });
}

Status copy_space_on(const Stream* stream, const SpaceCopy& copied) {
  if (!has_memory_types(copied)) return Status::invalid_value;
  const Direction way = direction_between(copied.from.type, copied.to.type);
  return on_stream(stream, [copied, way] { return copy_space(copied, way); });
}

SpaceCopy space_of(const PlaneCopy& copied) {
  return {SpaceEnd::of(copied.from), SpaceEnd::of(copied.to), copied.row_bytes, copied.rows, 1};
}

/// CUDA_ARRAY3D_DESCRIPTOR.
struct ArrayDescription {
  std::size_t width, height, depth;
  int format;
  unsigned channels, flags;
};
/// CUDA_ARRAY_DESCRIPTOR.
struct PlaneDescription {
  std::size_t width, height;
  int format;
  unsigned channels;
};

/// CUarray_format, with what the runtime's ChannelFormat says of it.
struct ArrayFormat {
  int number, bits, kind;
};
constexpr int kSigned = 0;
constexpr int kUnsigned = 1;
constexpr int kFloating = 2;
constexpr std::array kArrayFormats = {
    ArrayFormat{0x01, 8, kUnsigned},  ArrayFormat{0x02, 16, kUnsigned},
    ArrayFormat{0x03, 32, kUnsigned}, ArrayFormat{0x08, 8, kSigned},
    ArrayFormat{0x09, 16, kSigned},   ArrayFormat{0x0a, 32, kSigned},
    ArrayFormat{0x10, 16, kFloating}, ArrayFormat{0x20, 32, kFloating}};

std::optional<ChannelFormat> channel_format_of(int number, unsigned channels) {
  constexpr unsigned kMostChannels = 4;
  const bool is_count = channels == 1 || channels == 2 || channels == kMostChannels;
  for (const ArrayFormat& format : kArrayFormats) {
    if (format.number != number || !is_count) continue;
    ChannelFormat made = {{}, format.kind};
    std::fill_n(made.bits.begin(), channels, format.bits);
    return made;
  }
  return std::nullopt;
}

Status create_array(Array** array, const ArrayDescription& description) {
  const auto format = channel_format_of(description.format, description.channels);
  if (array == nullptr || !format) return Status::invalid_value;
  return make_array(*array, *format, {description.width, description.height, description.depth},
                    description.flags);
}

std::optional<ArrayDescription> description_of(const Array* array) {
  if (!arrays().is_alive(array)) return std::nullopt;
  ArrayDescription made = {array->extent.width, array->extent.height, array->extent.depth, 0, 0,
                           array->flags};
  for (const int bits : array->format.bits) made.channels += bits != 0 ? 1 : 0;
  for (const ArrayFormat& format : kArrayFormats) {
    const bool is_same = format.bits == array->format.bits[0] && format.kind == array->format.kind;
    if (is_same) made.format = format.number;
  }
  return made;
}

}  // namespace

OHM_EXPORTED Status cuArrayCreate_v2(Array** array, const PlaneDescription* plane) {
  OHM_CONTEXT_CALL;
  if (plane == nullptr) return Status::invalid_value;
  return create_array(array, {plane->width, plane->height, 0, plane->format, plane->channels, 0});
}

OHM_EXPORTED Status cuArray3DCreate_v2(Array** array, const ArrayDescription* description) {
  OHM_CONTEXT_CALL;
  return description == nullptr ? Status::invalid_value : create_array(array, *description);
}

OHM_EXPORTED Status cuArrayGetDescriptor_v2(PlaneDescription* plane, const Array* array) {
  OHM_CONTEXT_CALL;
  const auto known = description_of(array);
  if (!known) return Status::invalid_handle;
  if (plane == nullptr) return Status::invalid_value;
  *plane = {known->width, known->height, known->format, known->channels};
  return Status::success;
}

OHM_EXPORTED Status cuArray3DGetDescriptor_v2(ArrayDescription* description, const Array* array) {
  OHM_CONTEXT_CALL;
  const auto known = description_of(array);
  if (!known) return Status::invalid_handle;
  if (description == nullptr) return Status::invalid_value;
  *description = *known;
  return Status::success;
}

OHM_EXPORTED Status cuArrayDestroy(Array* array) {
  OHM_CONTEXT_CALL;
  if (!arrays().is_alive(array)) return Status::invalid_handle;
  return free_array(array);
}

OHM_EXPORTED Status cuMemcpy2D_v2(const PlaneCopy* copied) {
  OHM_CONTEXT_CALL;
  return copied == nullptr ? Status::invalid_value : copy_space_now(space_of(*copied));
}

OHM_EXPORTED Status cuMemcpy2DUnaligned_v2(const PlaneCopy* copied) {
  OHM_CONTEXT_CALL;
  return copied == nullptr ? Status::invalid_value : copy_space_now(space_of(*copied));
}

OHM_EXPORTED Status cuMemcpy2DAsync_v2(const PlaneCopy* copied, Stream* stream) {
  OHM_CONTEXT_CALL;
  return copied == nullptr ? Status::invalid_value : copy_space_on(stream, space_of(*copied));
}

OHM_EXPORTED Status cuMemcpy3D_v2(const SpaceCopy* copied) {
  OHM_CONTEXT_CALL;
  return copied == nullptr ? Status::invalid_value : copy_space_now(*copied);
}

OHM_EXPORTED Status cuMemcpy3DAsync_v2(const SpaceCopy* copied, Stream* stream) {
  OHM_CONTEXT_CALL;
  return copied == nullptr ? Status::invalid_value : copy_space_on(stream, *copied);
}

OHM_EXPORTED Status cuMemcpyHtoA_v2(const Array* to, std::size_t offset, const void* from,
                                    std::size_t bytes) {
  OHM_CONTEXT_CALL;
  const auto place = part_of_array(to, offset, 0, 0, bytes, 1, 1);
  if (!place) return Status::invalid_value;
  return waited_for(Direction::host_to_device,
                    [&] { return copy(place->begin, from, bytes, Direction::host_to_device); });
}

OHM_EXPORTED Status cuMemcpyAtoH_v2(void* to, const Array* from, std::size_t offset,
                                    std::size_t bytes) {
  OHM_CONTEXT_CALL;
  const auto place = part_of_array(from, offset, 0, 0, bytes, 1, 1);
  if (!place) return Status::invalid_value;
  return waited_for(Direction::device_to_host,
                    [&] { return copy(to, place->begin, bytes, Direction::device_to_host); });
}

OHM_EXPORTED Status cuMemcpyHtoAAsync_v2(const Array* to, std::size_t offset, const void* from,
                                         std::size_t bytes, Stream* stream) {
  OHM_CONTEXT_CALL;
  const auto place = part_of_array(to, offset, 0, 0, bytes, 1, 1);
  if (!place) return Status::invalid_value;
  return copy_on(stream, place->begin, from, bytes, Direction::host_to_device);
}

OHM_EXPORTED Status cuMemcpyAtoHAsync_v2(void* to, const Array* from, std::size_t offset,
                                         std::size_t bytes, Stream* stream) {
  OHM_CONTEXT_CALL;
  const auto place = part_of_array(from, offset, 0, 0, bytes, 1, 1);
  if (!place) return Status::invalid_value;
  return copy_on(stream, to, place->begin, bytes, Direction::device_to_host);
}

OHM_EXPORTED Status cuMemcpyDtoA_v2(const Array* to, std::size_t offset, const void* from,
                                    std::size_t bytes) {
  OHM_CONTEXT_CALL;
  const auto place = part_of_array(to, offset, 0, 0, bytes, 1, 1);
  if (!place) return Status::invalid_value;
  return copy_on(nullptr, place->begin, from, bytes, Direction::device_to_device);
}

OHM_EXPORTED Status cuMemcpyAtoD_v2(void* to, const Array* from, std::size_t offset,
                                    std::size_t bytes) {
  OHM_CONTEXT_CALL;
  const auto place = part_of_array(from, offset, 0, 0, bytes, 1, 1);
  if (!place) return Status::invalid_value;
  return copy_on(nullptr, to, place->begin, bytes, Direction::device_to_device);
}

OHM_EXPORTED Status cuMemcpyAtoA_v2(const Array* to, std::size_t to_offset, const Array* from,
                                    std::size_t from_offset, std::size_t bytes) {
  OHM_CONTEXT_CALL;
  const auto target = part_of_array(to, to_offset, 0, 0, bytes, 1, 1);
  const auto source = part_of_array(from, from_offset, 0, 0, bytes, 1, 1);
  if (!target || !source) return Status::invalid_value;
  return copy_on(nullptr, target->begin, source->begin, bytes, Direction::device_to_device);
}
