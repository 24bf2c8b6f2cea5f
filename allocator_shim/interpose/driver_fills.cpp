// CUDA's driver: fills, of words of 1, 2 and 4 bytes, in one and two dimensions.
#include <cstddef>
#include <cstdint>

#include "allocator_shim/interpose/copies.h"
#include "allocator_shim/interpose/entry_call.h"
#include "allocator_shim/interpose/exported.h"
#include "allocator_shim/interpose/status.h"

using namespace ohm::interpose;

namespace {

Status fill_line(std::uint8_t* to, std::uint8_t value, std::size_t count) {
  return fill(to, value, count);
}

Status fill_line(std::uint16_t* to, std::uint16_t value, std::size_t count) {
  return fill_words(to, value, count);
}

Status fill_line(std::uint32_t* to, std::uint32_t value, std::size_t count) {
  return fill_words(to, value, count);
}

template <typename Word>
Status fill_line_on(const Stream* stream, Word* to, Word value, std::size_t count) {
  return on_stream(
      stream, [=] { return fill_line(to, value, count); }, NodeType::fill);
}

/// Rows of so many words, which begin `pitch` bytes after each other.
template <typename Word>
Status fill_plane(Word* to, std::size_t pitch, Word value, std::size_t count, std::size_t rows) {
  std::size_t row_bytes = 0;
  std::size_t span = 0;
  const bool has_sizes = !__builtin_mul_overflow(count, sizeof(Word), &row_bytes) &&
                         !__builtin_mul_overflow(pitch, rows, &span);
  const bool has_rows = rows <= 1 || (pitch >= row_bytes && pitch % sizeof(Word) == 0);
  if (!has_sizes || !has_rows) return Status::invalid_value;
  if (count == 0 || rows == 0) return Status::success;
  Status status = check_filled_rows(to, pitch, row_bytes, rows);
  for (std::size_t row = 0; row < rows && status == Status::success; ++row) {
    auto* const line = reinterpret_cast<std::byte*>(to) + row * pitch;
    status = fill_line(reinterpret_cast<Word*>(line), value, count);
  }
  return status;
}

template <typename Word>
Status fill_plane_on(const Stream* stream, Word* to, std::size_t pitch, Word value,
                     std::size_t count, std::size_t rows) {
  return on_stream(
      stream, [=] { return fill_plane(to, pitch, value, count, rows); }, NodeType::fill);
}

}  // namespace

OHM_EXPORTED Status cuMemsetD8_v2(std::uint8_t* to, std::uint8_t value, std::size_t count) {
  OHM_CONTEXT_CALL;
  return fill_line_on(nullptr, to, value, count);
}

OHM_EXPORTED Status cuMemsetD8Async(std::uint8_t* to, std::uint8_t value, std::size_t count,
                                    Stream* stream) {
  OHM_CONTEXT_CALL;
  return fill_line_on(stream, to, value, count);
}

OHM_EXPORTED Status cuMemsetD16_v2(std::uint16_t* to, std::uint16_t value, std::size_t count) {
  OHM_CONTEXT_CALL;
  return fill_line_on(nullptr, to, value, count);
}

OHM_EXPORTED Status cuMemsetD16Async(std::uint16_t* to, std::uint16_t value, std::size_t count,
                                     Stream* stream) {
  OHM_CONTEXT_CALL;
  return fill_line_on(stream, to, value, count);
}

OHM_EXPORTED Status cuMemsetD32_v2(std::uint32_t* to, std::uint32_t value, std::size_t count) {
  OHM_CONTEXT_CALL;
  return fill_line_on(nullptr, to, value, count);
}

OHM_EXPORTED Status cuMemsetD32Async(std::uint32_t* to, std::uint32_t value, std::size_t count,
                                     Stream* stream) {
  OHM_CONTEXT_CALL;
  return fill_line_on(stream, to, value, count);
}

OHM_EXPORTED Status cuMemsetD2D8_v2(std::uint8_t* to, std::size_t pitch, std::uint8_t value,
                                    std::size_t count, std::size_t rows) {
  OHM_CONTEXT_CALL;
  return fill_plane_on(nullptr, to, pitch, value, count, rows);
}

OHM_EXPORTED Status cuMemsetD2D8Async(std::uint8_t* to, std::size_t pitch, std::uint8_t value,
                                      std::size_t count, std::size_t rows, Stream* stream) {
  OHM_CONTEXT_CALL;
  return fill_plane_on(stream, to, pitch, value, count, rows);
}

OHM_EXPORTED Status cuMemsetD2D16_v2(std::uint16_t* to, std::size_t pitch, std::uint16_t value,
                                     std::size_t count, std::size_t rows) {
  OHM_CONTEXT_CALL;
  return fill_plane_on(nullptr, to, pitch, value, count, rows);
}

OHM_EXPORTED Status cuMemsetD2D16Async(std::uint16_t* to, std::size_t pitch, std::uint16_t value,
                                       std::size_t count, std::size_t rows, Stream* stream) {
  OHM_CONTEXT_CALL;
  return fill_plane_on(stream, to, pitch, value, count, rows);
}

OHM_EXPORTED Status cuMemsetD2D32_v2(std::uint32_t* to, std::size_t pitch, std::uint32_t value,
                                     std::size_t count, std::size_t rows) {
  OHM_CONTEXT_CALL;
  return fill_plane_on(nullptr, to, pitch, value, count, rows);
}

OHM_EXPORTED Status cuMemsetD2D32Async(std::uint32_t* to, std::size_t pitch, std::uint32_t value,
                                       std::size_t count, std::size_t rows, Stream* stream) {
  OHM_CONTEXT_CALL;
  return fill_plane_on(stream, to, pitch, value, count, rows);
}
