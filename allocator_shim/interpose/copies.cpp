#include "allocator_shim/interpose/copies.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "allocator_shim/interpose/gpu_system.h"
#include "allocator_shim/interpose/granted_values.h"
#include "allocator_shim/interpose/known_values.h"
#include "allocator_shim/interpose/work_in_flight.h"

namespace ohm::interpose {
namespace {

/// Of a copy or a fill on a device.
bool is_done(std::size_t bytes, std::size_t largest) {
  return bytes <= largest || computes_values();
}

/// Whether a program has memory at the address. Pages are asked about, not read.
bool is_mapped_page(std::uintptr_t address) {
  const auto page_bytes = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  unsigned char is_resident = 0;
  void* const page = reinterpret_cast<void*>(address / page_bytes * page_bytes);
  return mincore(page, 1, &is_resident) == 0 || errno != ENOMEM;
}

}  // namespace

bool is_host_memory(const void* pointer, std::size_t bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(pointer);
  const bool wraps = begin + bytes < begin;
  return !wraps && is_mapped_page(begin) && is_mapped_page(begin + bytes - 1);
}

namespace {

bool is_memory_of(const void* pointer, std::size_t bytes, Place place, bool is_device_asked_for) {
  if (pointer == nullptr || place == Place::nowhere) return false;
  if (place != Place::host) return true;
  // Devices reach pinned memory, too.
  if (is_device_asked_for && !gpus().is_pinned(pointer)) return false;
  return is_host_memory(pointer, bytes);
}

/// Whether one end of a copy is what the direction says, or may be.
bool is_right(const void* pointer, std::size_t bytes, Place place, bool is_device_asked_for) {
  if (is_memory_of(pointer, bytes, place, is_device_asked_for)) return true;
  if (DeviceRecord* const record = DeviceRecord::of_process()) record->note_failed_use(pointer);
  return false;
}

/// A pitched area spans less than this.
bool has_sane_pitch(std::size_t pitch, std::size_t row_bytes, std::size_t rows) {
  std::size_t span = 0;
  return pitch >= row_bytes && !__builtin_mul_overflow(pitch, rows, &span);
}

/// From the first row to the end of the last.
std::size_t bytes_of_rows(std::size_t pitch, std::size_t row_bytes, std::size_t rows) {
  return (rows - 1) * pitch + row_bytes;
}

bool are_ends_right(const void* to, std::size_t to_bytes, const void* from, std::size_t from_bytes,
                    Direction direction) {
  const bool is_to_device =
      direction == Direction::host_to_device || direction == Direction::device_to_device;
  const bool is_from_device =
      direction == Direction::device_to_host || direction == Direction::device_to_device;
  return is_right(to, to_bytes, gpus().place_of(to, to_bytes), is_to_device) &&
         is_right(from, from_bytes, gpus().place_of(from, from_bytes), is_from_device);
}

}  // namespace

Status copy(void* to, const void* from, std::size_t bytes, Direction direction) {
  if (bytes == 0) return Status::success;
  const Place target = gpus().place_of(to, bytes);
  const Place source = gpus().place_of(from, bytes);
  if (!are_ends_right(to, bytes, from, bytes, direction)) return Status::invalid_value;
  const std::size_t largest = source == Place::device ? kLargestDeviceCopy : kLargestHostCopy;
  const bool is_moved = target != Place::device || is_done(bytes, largest);
  if (is_moved) std::memmove(to, from, bytes);
  // What known bytes are written to is told by those who follow operators: a kernel may go on.
  if (target == Place::device && source == Place::device && !(is_moved && is_known(from, bytes))) {
    mark_written(to, bytes, false);
  }
  if (target == Place::host && source == Place::device && !grant_check(to, bytes)) {
    follow_read(to, from, bytes);
  }
  return Status::success;
}

Status copy_on(const Stream* stream, void* to, const void* from, std::size_t bytes,
               Direction direction) {
  const Status status = on_stream(stream, [=] { return copy(to, from, bytes, direction); });
  if (calls_in_flight == 0 || status != Status::success || capture_of(stream) != nullptr) {
    return status;
  }
  const bool is_pageable = gpus().place_of(to, bytes) == Place::host && !gpus().is_pinned(to);
  if (is_pageable) note_waited(stream);
  return status;
}

Status copy_rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                 std::size_t row_bytes, std::size_t rows, Direction direction) {
  if (row_bytes == 0 || rows == 0) return Status::success;
  const bool is_sane =
      has_sane_pitch(to_pitch, row_bytes, rows) && has_sane_pitch(from_pitch, row_bytes, rows);
  if (!is_sane) return Status::invalid_pitch;
  // What is beyond memory fails before anything is written.
  const bool are_right = are_ends_right(to, bytes_of_rows(to_pitch, row_bytes, rows), from,
                                        bytes_of_rows(from_pitch, row_bytes, rows), direction);
  if (!are_right) return Status::invalid_value;
  Status status = Status::success;
  for (std::size_t row = 0; row < rows && status == Status::success; ++row) {
    status = copy(static_cast<std::byte*>(to) + row * to_pitch,
                  static_cast<const std::byte*>(from) + row * from_pitch, row_bytes, direction);
  }
  return status;
}

namespace {

/// Devices fill what they reach.
Status checked_target(const void* to, std::size_t bytes, Place& place) {
  place = gpus().place_of(to, bytes);
  return is_right(to, bytes, place, true) ? Status::success : Status::invalid_value;
}

}  // namespace

Status check_filled_rows(const void* to, std::size_t pitch, std::size_t row_bytes,
                         std::size_t rows) {
  Place place = Place::nowhere;
  return checked_target(to, bytes_of_rows(pitch, row_bytes, rows), place);
}

Status fill(void* to, int byte, std::size_t bytes) {
  if (bytes == 0) return Status::success;
  Place place = Place::nowhere;
  const Status status = checked_target(to, bytes, place);
  if (status != Status::success) return status;
  if (place != Place::device || is_done(bytes, kLargestDeviceCopy)) std::memset(to, byte, bytes);
  return Status::success;
}

Status fill_rows(void* to, std::size_t pitch, int byte, std::size_t row_bytes, std::size_t rows) {
  if (row_bytes == 0 || rows == 0) return Status::success;
  if (!has_sane_pitch(pitch, row_bytes, rows)) return Status::invalid_value;
  Status status = check_filled_rows(to, pitch, row_bytes, rows);
  for (std::size_t row = 0; row < rows && status == Status::success; ++row) {
    status = fill(static_cast<std::byte*>(to) + row * pitch, byte, row_bytes);
  }
  return status;
}

namespace {

template <typename Word>
Status fill_with(Word* to, Word word, std::size_t count) {
  if (count == 0) return Status::success;
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, sizeof(word), &bytes)) return Status::invalid_value;
  if (reinterpret_cast<std::uintptr_t>(to) % sizeof(word) != 0) return Status::invalid_value;
  Place place = Place::nowhere;
  const Status status = checked_target(to, bytes, place);
  if (status != Status::success) return status;
  if (place != Place::device || is_done(bytes, kLargestDeviceCopy)) std::fill_n(to, count, word);
  return Status::success;
}

}  // namespace

Status fill_words(std::uint32_t* to, std::uint32_t word, std::size_t count) {
  return fill_with(to, word, count);
}

Status fill_words(std::uint16_t* to, std::uint16_t word, std::size_t count) {
  return fill_with(to, word, count);
}

}  // namespace ohm::interpose
