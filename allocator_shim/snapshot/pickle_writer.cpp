#include "allocator_shim/snapshot/pickle_writer.h"

#include <bit>
#include <stdexcept>
#include <utility>

#include "allocator_shim/base/utf8.h"

namespace ohm {

using Op = PickleOpcode;

PickleWriter::PickleWriter(Write write) : write_(std::move(write)) {
  buffer_.reserve(kBufferBytes);
  opcode(Op::proto);
  buffer_ += '\4';
}

void PickleWriter::flush() {
  write_(buffer_);
  buffer_.clear();
}

void PickleWriter::opcode(PickleOpcode opcode) {
  if (buffer_.size() >= kBufferBytes) flush();
  buffer_ += static_cast<char>(opcode);
}

void PickleWriter::little_endian(std::uint64_t value, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) buffer_ += static_cast<char>(value >> (8 * i) & 0xFFU);
}

void PickleWriter::long_integer(std::uint64_t value, std::size_t bytes) {
  opcode(Op::long1);
  buffer_ += static_cast<char>(bytes);
  little_endian(value, bytes < 8 ? bytes : 8);
  if (bytes > 8) buffer_ += '\0';
}

void PickleWriter::integer(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  if (value >= 0 && value <= 0xFFFF) {
    const bool is_byte = value <= 0xFF;
    opcode(is_byte ? Op::bin_int1 : Op::bin_int2);
    return little_endian(bits, is_byte ? 1 : 2);
  }
  if (value >= INT32_MIN && value <= INT32_MAX) {
    opcode(Op::bin_int);
    return little_endian(bits, 4);
  }
  // Two's complement: one bit more than the number itself needs.
  const auto width = std::bit_width(value < 0 ? ~bits : bits);
  long_integer(bits, static_cast<std::size_t>(width) / 8 + 1);
}

void PickleWriter::natural(std::uint64_t value) {
  if (value <= static_cast<std::uint64_t>(INT64_MAX)) {
    return integer(static_cast<std::int64_t>(value));
  }
  long_integer(value, 9);
}

void PickleWriter::real(double value) {
  opcode(Op::bin_float);
  const auto bits = std::bit_cast<std::uint64_t>(value);
  for (int shift = 56; shift >= 0; shift -= 8) buffer_ += static_cast<char>(bits >> shift & 0xFFU);
}

void PickleWriter::boolean(bool value) { opcode(value ? Op::new_true : Op::new_false); }

void PickleWriter::text(std::string_view text) {
  std::string valid;
  if (first_invalid_utf8(text)) text = valid = valid_utf8(text);
  if (text.size() > UINT32_MAX) throw std::length_error("[pickle writer] a text of over 4 GiB");
  const bool is_short = text.size() <= 0xFF;
  opcode(is_short ? Op::short_bin_unicode : Op::bin_unicode);
  little_endian(text.size(), is_short ? 1 : 4);
  buffer_ += text;
}

std::uint32_t PickleWriter::memoize() {
  opcode(Op::memoize);
  return memoized_++;
}

void PickleWriter::again(std::uint32_t number) {
  const bool is_byte = number <= 0xFF;
  opcode(is_byte ? Op::bin_get : Op::long_bin_get);
  little_endian(number, is_byte ? 1 : 4);
}

void PickleWriter::begin_dict() {
  opcode(Op::empty_dict);
  opcode(Op::mark);
}

std::uint32_t PickleWriter::begin_memoized_dict() {
  opcode(Op::empty_dict);
  const std::uint32_t number = memoize();
  opcode(Op::mark);
  return number;
}

void PickleWriter::end_dict() { opcode(Op::set_items); }

void PickleWriter::pair() { opcode(Op::tuple2); }

void PickleWriter::stop() {
  opcode(Op::stop);
  flush();
}

}  // namespace ohm
