#include "allocator_shim/snapshot/pickle_opcodes.h"

#include <fmt/format.h>

#include <array>

namespace ohm {

namespace {

struct Row {
  std::uint8_t byte;
  PickleOpcodeInfo info;
};

constexpr auto kData = PickleOpcodeKind::data;
constexpr auto kRuns = PickleOpcodeKind::runs;
constexpr auto kForeign = PickleOpcodeKind::foreign;

constexpr Row kRows[] = {
    {0x80, {kData, "PROTO"}},
    {0x95, {kData, "FRAME"}},
    {'.', {kData, "STOP"}},
    {'(', {kData, "MARK"}},
    {'N', {kData, "NONE"}},
    {0x88, {kData, "NEWTRUE"}},
    {0x89, {kData, "NEWFALSE"}},
    {'J', {kData, "BININT"}},
    {'K', {kData, "BININT1"}},
    {'M', {kData, "BININT2"}},
    {0x8A, {kData, "LONG1"}},
    {0x8B, {kData, "LONG4"}},
    {'G', {kData, "BINFLOAT"}},
    {0x8C, {kData, "SHORT_BINUNICODE"}},
    {'X', {kData, "BINUNICODE"}},
    {0x8D, {kData, "BINUNICODE8"}},
    {']', {kData, "EMPTY_LIST"}},
    {'}', {kData, "EMPTY_DICT"}},
    {')', {kData, "EMPTY_TUPLE"}},
    {'l', {kData, "LIST"}},
    {'d', {kData, "DICT"}},
    {'t', {kData, "TUPLE"}},
    {0x85, {kData, "TUPLE1"}},
    {0x86, {kData, "TUPLE2"}},
    {0x87, {kData, "TUPLE3"}},
    {'a', {kData, "APPEND"}},
    {'e', {kData, "APPENDS"}},
    {'s', {kData, "SETITEM"}},
    {'u', {kData, "SETITEMS"}},
    {'h', {kData, "BINGET"}},
    {'j', {kData, "LONG_BINGET"}},
    {'q', {kData, "BINPUT"}},
    {'r', {kData, "LONG_BINPUT"}},
    {0x94, {kData, "MEMOIZE"}},

    {'c', {kRuns, "GLOBAL"}},
    {0x93, {kRuns, "STACK_GLOBAL"}},
    {'R', {kRuns, "REDUCE"}},
    {'b', {kRuns, "BUILD"}},
    {'i', {kRuns, "INST"}},
    {'o', {kRuns, "OBJ"}},
    {0x81, {kRuns, "NEWOBJ"}},
    {0x92, {kRuns, "NEWOBJ_EX"}},
    {0x82, {kRuns, "EXT1"}},
    {0x83, {kRuns, "EXT2"}},
    {0x84, {kRuns, "EXT4"}},
    {'P', {kRuns, "PERSID"}},
    {'Q', {kRuns, "BINPERSID"}},
    {0x97, {kRuns, "NEXT_BUFFER"}},
    {0x98, {kRuns, "READONLY_BUFFER"}},

    {'0', {kForeign, "POP"}},
    {'1', {kForeign, "POP_MARK"}},
    {'2', {kForeign, "DUP"}},
    {'I', {kForeign, "INT"}},
    {'L', {kForeign, "LONG"}},
    {'F', {kForeign, "FLOAT"}},
    {'S', {kForeign, "STRING"}},
    {'T', {kForeign, "BINSTRING"}},
    {'U', {kForeign, "SHORT_BINSTRING"}},
    {'V', {kForeign, "UNICODE"}},
    {'B', {kForeign, "BINBYTES"}},
    {'C', {kForeign, "SHORT_BINBYTES"}},
    {0x8E, {kForeign, "BINBYTES8"}},
    {0x96, {kForeign, "BYTEARRAY8"}},
    {0x8F, {kForeign, "EMPTY_SET"}},
    {0x90, {kForeign, "ADDITEMS"}},
    {0x91, {kForeign, "FROZENSET"}},
    {'g', {kForeign, "GET"}},
    {'p', {kForeign, "PUT"}},
};

constexpr std::array<PickleOpcodeInfo, 256> by_byte() {
  std::array<PickleOpcodeInfo, 256> infos = {};
  for (const Row& row : kRows) infos[row.byte] = row.info;
  return infos;
}

}  // namespace

PickleOpcodeInfo pickle_opcode_info(std::uint8_t byte) {
  static constexpr std::array<PickleOpcodeInfo, 256> kInfos = by_byte();
  return kInfos[byte];
}

std::string refusal_of_opcode(std::uint8_t byte) {
  const PickleOpcodeInfo info = pickle_opcode_info(byte);
  switch (info.kind) {
    case PickleOpcodeKind::runs:
      return fmt::format(
          "the opcode {} (0x{:02X}) would run code or make objects; memory snapshots are plain "
          "data, so this is something else, and it is not opened",
          info.name, byte);
    case PickleOpcodeKind::foreign:
      return fmt::format("the opcode {} (0x{:02X}) does not occur in memory snapshots", info.name,
                         byte);
    case PickleOpcodeKind::data:
    case PickleOpcodeKind::unknown:
      break;
  }
  return fmt::format("0x{:02X} is not an opcode of pickle: the file is damaged", byte);
}

}  // namespace ohm
