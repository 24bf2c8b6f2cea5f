// The reader of pickles: of plain data, and it executes nothing.
//
// A pickle is a program for a stack machine. This is that machine without its dangerous half: there
// are no classes, no calls, no objects from outside. Containers are not built: a handler is told
// what goes into them, piece by piece and from the inside out, and keeps what it wants of it, so
// that a file of hundreds of MB needs little more than what is made of it.
//
// Note [Once used, never changed]: items may be added to a list or dictionary only until it is used
// for the first time, in another one or by GET. It is the order in which pickle writes data that
// does not contain itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "allocator_shim/base/byte_window.h"
#include "allocator_shim/snapshot/pickle_opcodes.h"
#include "allocator_shim/snapshot/pickle_value.h"

namespace ohm {

class PickleReader {
 public:
  PickleReader(ByteWindow& bytes, PickleHandler& handler) : bytes_(bytes), handler_(handler) {}
  PickleReader(const PickleReader&) = delete;
  PickleReader& operator=(const PickleReader&) = delete;

  /// Reads to STOP and returns the value that the pickle is of. Once only.
  PickleValue read();
  /// Throws when the pickle is not all that there is.
  void check_end();

  /// Where the opcode stands that is being read.
  std::uint64_t offset() const { return offset_; }

 private:
  using Kind = PickleValue::Kind;

  struct MemoSlot {
    enum class State : std::uint8_t { unfinished, once, shared };
    std::uint32_t payload = 0;
    Kind kind = Kind::none;
    std::uint8_t role = 0;
    State state = State::unfinished;
  };

  /// Grows without moving: half of a large file is its memo.
  class Memo {
   public:
    std::uint32_t size() const { return size_; }
    MemoSlot& operator[](std::uint32_t i) { return chunks_[i / kChunkSlots][i % kChunkSlots]; }
    void push_back(const MemoSlot& slot);

   private:
    static constexpr std::uint32_t kChunkSlots = 1U << 14U;
    std::vector<std::unique_ptr<MemoSlot[]>> chunks_;
    std::uint32_t size_ = 0;
  };

  void read_header();
  /// False for STOP.
  bool step();
  void execute(PickleOpcode opcode);
  [[noreturn]] void refuse(const std::string& why) const;
  [[noreturn]] void refuse_end(std::uint64_t count) const;

  const char* take(std::size_t count);
  template <typename Integer>
  Integer little_endian();
  void check_height() const;
  void push(Kind kind, std::uint64_t payload);
  void push_long(std::uint64_t length);
  void push_real();
  void push_text(std::uint64_t length);
  void push_odd_text(std::string_view text);
  void check_frame();

  std::size_t pop_mark();
  PickleValue& container(std::size_t index, Kind kind);
  void publish(PickleValue& value);
  void publish_early(std::uint32_t number);
  void finish(std::span<PickleValue> items);
  void make_tuple(std::size_t first);
  void add_list_items(std::size_t list, std::size_t first);
  void add_dict_items(std::size_t dict, std::size_t first);
  void make_from_mark(Kind kind);
  void put(std::uint32_t number);
  void get(std::uint32_t number);

  ByteWindow& bytes_;
  PickleHandler& handler_;
  std::uint64_t offset_ = 0;
  std::vector<PickleValue> stack_;
  std::vector<std::size_t> marks_;  ///< heights of the stack
  Memo memo_;
};

}  // namespace ohm
