// Pickles put together by hand.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <ostream>
#include <string>
#include <string_view>

#include "allocator_shim/snapshot/snapshot_reader.h"

namespace ohm::test {

/// A pickle of protocol 4, opcode by opcode.
class Pickle {
 public:
  Pickle& raw(std::string_view bytes) {
    bytes_ += bytes;
    return *this;
  }
  Pickle& text(std::string_view text) {
    return raw("\x8C").raw(std::string(1, static_cast<char>(text.size()))).raw(text);
  }
  Pickle& number(int value) {  // 0 to 255
    return raw("K").raw(std::string(1, static_cast<char>(value)));
  }
  Pickle& dict() { return raw("}("); }
  Pickle& end_dict() { return raw("u"); }
  Pickle& list() { return raw("]("); }
  Pickle& end_list() { return raw("e"); }

  /// The next byte is the one that the message must name.
  Pickle& here() {
    offset_ = bytes_.size();
    return *this;
  }

  /// Beginnings and ends of what snapshots are made of.
  Pickle& snapshot() { return dict().text("segments").list(); }
  Pickle& traces() { return end_list().text("device_traces").list().list(); }
  Pickle& end() { return end_list().end_list().end_dict().raw("."); }
  Pickle& entry(std::string_view action) { return dict().text("action").text(action); }

  const std::string& bytes() const { return bytes_; }
  std::size_t offset() const { return offset_; }

 private:
  std::string bytes_ = "\x80\x04";
  std::size_t offset_ = 0;
};

struct RefusedPickle {
  const char* name;
  Pickle pickle;
  std::string message;
};

inline void PrintTo(const RefusedPickle& refused, std::ostream* out) { *out << refused.name; }

/// Reading it fails with this message, where it says.
inline void expect_refused(const RefusedPickle& refused) {
  try {
    read_snapshot(refused.pickle.bytes());
    FAIL() << "was read";
  } catch (const PickleError& error) {
    EXPECT_EQ(error.offset(), refused.pickle.offset());
    EXPECT_EQ(error.what(), fmt::format("byte {}: {}", refused.pickle.offset(), refused.message));
  }
}

}  // namespace ohm::test
