// Copies between device and host memory, and fills.
//
// Kernels compute nothing, so what is in a large tensor means nothing: copies and fills above the
// limits are left out, which keeps pages untouched that no program reads. Small ones are what
// programs look at (indices, flags, sizes), and are done; so is every one where values are computed
// (known_values.h).
//
// All of them fail with invalid_value where there is no memory at an address, or another kind than
// the direction says, and with success where there is nothing to do.
#pragma once

#include <cstddef>
#include <cstdint>

#include "allocator_shim/interpose/known_values.h"
#include "allocator_shim/interpose/objects.h"
#include "allocator_shim/interpose/status.h"
#include "allocator_shim/interpose/work_in_flight.h"

namespace ohm::interpose {

/// On a device, or from one to another.
inline constexpr std::size_t kLargestDeviceCopy = std::size_t{1} << 20U;
/// From the host.
inline constexpr std::size_t kLargestHostCopy = std::size_t{64} << 20U;

/// As cudaMemcpyKind numbers them.
enum class Direction : int {
  host_to_host,
  host_to_device,
  device_to_host,
  device_to_device,
  unified
};

/// Whether a program has memory at both ends of the area; pages are asked about, not read.
bool is_host_memory(const void* pointer, std::size_t bytes);

/// As cudaMemcpy. Where both ends are is known from their addresses.
Status copy(void* to, const void* from, std::size_t bytes, Direction direction);
/// As cudaMemcpy2D.
Status copy_rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                 std::size_t row_bytes, std::size_t rows, Direction direction);
Status fill(void* to, int byte, std::size_t bytes);
/// Whether devices reach all of an area that is to be filled, of at least one row.
Status check_filled_rows(const void* to, std::size_t pitch, std::size_t row_bytes,
                         std::size_t rows);
Status fill_rows(void* to, std::size_t pitch, int byte, std::size_t row_bytes, std::size_t rows);
Status fill_words(std::uint32_t* to, std::uint32_t word, std::size_t count);
Status fill_words(std::uint16_t* to, std::uint16_t word, std::size_t count);

/// What waits, or is work of the legacy default stream, ends captures that do not allow it.
inline Status check_captures(bool is_waited_for) {
  if (breaks_ordered_capture()) return Status::capture_implicit;
  return is_waited_for && breaks_capture() ? Status::capture_not_allowed : Status::success;
}

/// For the calls that take a stream. Where that is captured, a copy or a fill becomes a node of the
/// graph, which writes at each launch: not where those who follow operators write then.
template <typename Write>
Status on_stream(const Stream* stream, Write write, NodeType type = NodeType::copy) {
  if (!is_stream(stream)) return Status::invalid_handle;
  if (const Capture* const capture = capture_of(stream)) {
    if (capture->is_invalid) return Status::capture_invalidated;
    judge_provisional_values();
    const NodeWork work = are_values_followed() ? NodeWork() : NodeWork([write] { write(); });
    return capture_work(stream, type, work) != nullptr ? Status::success : Status::out_of_memory;
  }
  const Status captures = is_legacy(stream) ? check_captures(false) : Status::success;
  if (captures != Status::success) return captures;
  const Status status = write();
  if (status == Status::success) note_launched(stream);
  return status;
}

/// An asynchronous copy. One to memory of the host that is not page-locked is waited for.
Status copy_on(const Stream* stream, void* to, const void* from, std::size_t bytes,
               Direction direction);

/// For the calls without a stream, which are of the legacy default one and wait for it, unless
/// they stay on devices.
template <typename Write>
Status waited_for(Direction direction, Write write) {
  const Status captures = check_captures(true);
  if (captures != Status::success) return captures;
  const Status status = write();
  if (status != Status::success) return status;
  note_launched(nullptr);
  if (direction != Direction::device_to_device) note_waited(nullptr);
  return status;
}

}  // namespace ohm::interpose
