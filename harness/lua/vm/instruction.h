// Instructions of Lua 5.4, as far as they matter here.
#pragma once

#include <cstdint>

namespace ohm::lua {

enum Opcode : std::uint32_t {
  kMove = 0,
  kLoadInteger = 1,
  kLoadFloat = 2,
  kLoadConstant = 3,
  kLoadFarConstant = 4,
  kLoadFalse = 5,
  kLoadTrue = 7,
  kLoadNil = 8,
  kGetUpvalue = 9,
  kSetUpvalue = 10,
  kGetGlobal = 11,  // a field of an upvalue: _ENV
  kGetTable = 12,
  kGetInteger = 13,
  kGetField = 14,
  kSetGlobal = 15,
  kSetTable = 16,
  kSetInteger = 17,
  kSetField = 18,
  kNewTable = 19,
  kSelf = 20,
  kArithmetic = 46,  // these three follow the instruction that names the result's register
  kArithmeticWithSmallInteger = 47,
  kArithmeticWithConstant = 48,
  kNegate = 49,
  kComplement = 50,
  kClose = 54,
  kToBeClosed = 55,
  kJump = 56,
  kCallFunction = 68,
  kForLoop = 73,
  kCallIterator = 76,  // of a `for … in`
  kSetList = 78,
  kClosure = 79,
  kExtraArgument = 82,
};

struct Instruction {
  std::uint32_t bits;

  std::uint32_t opcode() const { return bits & 0x7FU; }
  int a() const { return static_cast<int>((bits >> 7U) & 0xFFU); }
  bool k() const { return ((bits >> 15U) & 1U) != 0; }  ///< C is a constant, or more follows
  int b() const { return static_cast<int>((bits >> 16U) & 0xFFU); }
  int c() const { return static_cast<int>(bits >> 24U); }
  /// How far a jump goes, and a loop back, from the next instruction on.
  int jump() const { return static_cast<int>(bits >> 7U) - ((1 << 24) - 1); }
  int back() const { return static_cast<int>(bits >> 15U); }
};

}  // namespace ohm::lua
