// The opcodes of Python's pickle, protocols 2 to 5: those that plain data is made of, and the
// names of the others for messages.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ohm {

enum class PickleOpcode : std::uint8_t {
  proto = 0x80,
  frame = 0x95,
  stop = '.',
  mark = '(',
  none = 'N',
  new_true = 0x88,
  new_false = 0x89,
  bin_int = 'J',    ///< 4 bytes, signed
  bin_int1 = 'K',   ///< 1 byte
  bin_int2 = 'M',   ///< 2 bytes
  long1 = 0x8A,     ///< a byte that says how many follow: two's complement, little-endian
  long4 = 0x8B,     ///< the same with 4 bytes that say how many
  bin_float = 'G',  ///< 8 bytes, big-endian
  short_bin_unicode = 0x8C,
  bin_unicode = 'X',
  bin_unicode8 = 0x8D,
  empty_list = ']',
  empty_dict = '}',
  empty_tuple = ')',
  list = 'l',
  dict = 'd',
  tuple = 't',
  tuple1 = 0x85,
  tuple2 = 0x86,
  tuple3 = 0x87,
  append = 'a',
  appends = 'e',
  set_item = 's',
  set_items = 'u',
  bin_get = 'h',
  long_bin_get = 'j',
  bin_put = 'q',
  long_bin_put = 'r',
  memoize = 0x94,
};

/// What a reader of plain data thinks of a byte.
enum class PickleOpcodeKind : std::uint8_t {
  data,     ///< one of the above
  runs,     ///< would look up or call code, or ask for objects from outside
  foreign,  ///< an opcode, but not one that plain dictionaries, lists and numbers are written with
  unknown,  ///< not an opcode
};

struct PickleOpcodeInfo {
  PickleOpcodeKind kind = PickleOpcodeKind::unknown;
  std::string_view name;  ///< as in Python's pickletools: "SHORT_BINUNICODE"; empty when unknown
};

PickleOpcodeInfo pickle_opcode_info(std::uint8_t byte);

/// Why a reader of plain data does not take this byte for an opcode of its own.
std::string refusal_of_opcode(std::uint8_t byte);

}  // namespace ohm
