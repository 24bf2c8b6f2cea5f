#include "allocator_shim/interpose/copies.h"

#include <cstring>

#include "allocator_shim/interpose/gpu_system.h"

namespace ohm::interpose {
namespace {

bool is_on_device(const void* address) {
  return gpus().may_be_device(reinterpret_cast<DeviceAddress>(address));
}

}  // namespace

void copy(void* to, const void* from, std::size_t bytes) {
  if (is_on_device(to)) {
    const bool is_device_copy = is_on_device(from);
    if (bytes > (is_device_copy ? kLargestDeviceCopy : kLargestHostCopy)) return;
  }
  std::memmove(to, from, bytes);
}

void copy_rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
               std::size_t row_bytes, std::size_t rows) {
  for (std::size_t row = 0; row < rows; ++row) {
    copy(static_cast<std::byte*>(to) + row * to_pitch,
         static_cast<const std::byte*>(from) + row * from_pitch, row_bytes);
  }
}

void fill(void* to, int byte, std::size_t bytes) {
  if (bytes <= kLargestDeviceCopy || !is_on_device(to)) std::memset(to, byte, bytes);
}

}  // namespace ohm::interpose
