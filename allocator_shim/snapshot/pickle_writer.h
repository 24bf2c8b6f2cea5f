// The writer of pickles: of plain data, protocol 4, with the opcodes that PyTorch's memory viewer
// knows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "allocator_shim/snapshot/pickle_opcodes.h"

namespace ohm {

class PickleWriter {
 public:
  using Write = std::function<void(std::string_view bytes)>;

  /// `write` takes the bytes, some at a time and in order; what it throws comes through.
  explicit PickleWriter(Write write);
  PickleWriter(const PickleWriter&) = delete;
  PickleWriter& operator=(const PickleWriter&) = delete;

  void integer(std::int64_t value);
  /// Also what is beyond std::int64_t.
  void natural(std::uint64_t value);
  void real(double value);
  void boolean(bool value);
  /// Bytes that are not UTF-8 become U+FFFD.
  void text(std::string_view text);

  /// The value just written gets the returned number in the memo, by which again() repeats it.
  std::uint32_t memoize();
  void again(std::uint32_t number);

  /// Between them keys and values in turn.
  void begin_dict();
  /// Puts the dictionary into the memo before its items, as pickle does it.
  std::uint32_t begin_memoized_dict();
  void end_dict();
  /// Writes a list: `write_item(i)` writes the i-th of `count` items.
  template <typename WriteItem>
  void list(std::size_t count, WriteItem write_item) {
    opcode(PickleOpcode::empty_list);
    add_items(count, write_item);
  }
  /// The same, with the list in the memo.
  template <typename WriteItem>
  std::uint32_t memoized_list(std::size_t count, WriteItem write_item) {
    opcode(PickleOpcode::empty_list);
    const std::uint32_t number = memoize();
    add_items(count, write_item);
    return number;
  }
  /// Of the two values before it.
  void pair();

  /// Ends the pickle and hands over the last bytes.
  void stop();

 private:
  /// pickle's own: readers keep the items of one batch on their stack.
  static constexpr std::size_t kBatch = 1000;
  static constexpr std::size_t kBufferBytes = std::size_t{64} << 10U;

  template <typename WriteItem>
  void add_items(std::size_t count, WriteItem write_item) {
    for (std::size_t i = 0; i < count;) {
      opcode(PickleOpcode::mark);
      for (const std::size_t end = count - i > kBatch ? i + kBatch : count; i < end; ++i) {
        write_item(i);
      }
      opcode(PickleOpcode::appends);
    }
  }

  void opcode(PickleOpcode opcode);
  void little_endian(std::uint64_t value, std::size_t bytes);
  void long_integer(std::uint64_t value, std::size_t bytes);
  void flush();

  Write write_;
  std::string buffer_;
  std::uint32_t memoized_ = 0;
};

}  // namespace ohm
