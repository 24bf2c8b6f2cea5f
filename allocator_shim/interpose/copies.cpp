#include "allocator_shim/interpose/copies.h"

#include <algorithm>
#include <cstring>

#include "allocator_shim/interpose/gpu_system.h"
#include "allocator_shim/interpose/granted_values.h"
#include "allocator_shim/interpose/known_values.h"

namespace ohm::interpose {
namespace {

/// Of a copy or a fill on a device.
bool is_done(std::size_t bytes, std::size_t largest) {
  return bytes <= largest || computes_values();
}

}  // namespace

Status copy(void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return Status::success;
  const Place target = gpus().place_of(to, bytes);
  const Place source = gpus().place_of(from, bytes);
  if (target == Place::nowhere || source == Place::nowhere) return Status::invalid_value;
  const std::size_t largest = source == Place::device ? kLargestDeviceCopy : kLargestHostCopy;
  const bool is_moved = target == Place::host || is_done(bytes, largest);
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

Status copy_rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                 std::size_t row_bytes, std::size_t rows) {
  Status status = Status::success;
  for (std::size_t row = 0; row < rows && status == Status::success; ++row) {
    status = copy(static_cast<std::byte*>(to) + row * to_pitch,
                  static_cast<const std::byte*>(from) + row * from_pitch, row_bytes);
  }
  return status;
}

Status fill(void* to, int byte, std::size_t bytes) {
  const Place place = gpus().place_of(to, bytes);
  if (place == Place::nowhere) return Status::invalid_value;
  if (place == Place::host || is_done(bytes, kLargestDeviceCopy)) std::memset(to, byte, bytes);
  return Status::success;
}

Status fill_rows(void* to, std::size_t pitch, int byte, std::size_t row_bytes, std::size_t rows) {
  Status status = Status::success;
  for (std::size_t row = 0; row < rows && status == Status::success; ++row) {
    status = fill(static_cast<std::byte*>(to) + row * pitch, byte, row_bytes);
  }
  return status;
}

Status fill_words(std::uint32_t* to, std::uint32_t word, std::size_t count) {
  const Place place = gpus().place_of(to, count * sizeof(word));
  if (place == Place::nowhere) return Status::invalid_value;
  if (is_done(count * sizeof(word), kLargestDeviceCopy)) std::fill_n(to, count, word);
  return Status::success;
}

}  // namespace ohm::interpose
