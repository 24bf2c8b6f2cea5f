// Lua's values as they lie in its memory: what its interface does not show, or not without writing
// to its stack.
//
// Note [Layout of Lua 5.4]
// The layouts here are the same in all of 5.4 and not part of its interface; check_raw_layout()
// holds them to the Lua at hand when a state is opened.
#pragma once

#include <lua.hpp>

#include <cstdint>
#include <span>

namespace ohm::lua {

/// A value in a register, a table or a variable of a closure.
struct RawValue {
  const void* content = nullptr;
  std::uint8_t tag = 0;

  bool operator==(const RawValue&) const = default;
  bool is_nil() const { return (tag & 0x0FU) == 0; }
};
static_assert(sizeof(RawValue) == 16);

namespace raw {

constexpr std::uint8_t kCollectable = 0x40;
constexpr std::uint8_t kShortString = 0x44;
constexpr std::uint8_t kTable = 0x45;
constexpr std::uint8_t kLuaFunction = 0x46;
constexpr std::uint8_t kNativeFunction = 0x66;
constexpr std::uint8_t kUserdata = 0x47;
constexpr std::uint8_t kThread = 0x48;
/// Of ours: the variable that closures share, which no value of a script is.
constexpr std::uint8_t kVariable = 0x49;

/// As lua_newstate(), but with the same seed of its strings' hashes each time: Lua takes the time
/// and addresses, and where a table's elements come to lie, and so the length of one with gaps,
/// follows from it.
lua_State* new_state(lua_Alloc allocate, void* memory);

/// Whether other values can be reached through it, or it has an end: strings are left out.
inline bool holds_something(RawValue value) {
  return (value.tag & kCollectable) != 0 && (value.tag & 0x0FU) != LUA_TSTRING;
}

/// The values on the stack of a coroutine, up to the last argument of the native that runs on it.
std::span<RawValue> stack_of(lua_State* L);
/// The values above those, to the end of the memory of the stack.
std::span<RawValue> above_stack_of(lua_State* L);
/// As a collection does: what lies there may come to be in a function's registers.
void clear_above_stack(lua_State* L);

/// Of values that lie in Lua's memory at this time; nothing else is looked at.
RawValue value_at(lua_State* L, int index);
void push(lua_State* L, RawValue value);

RawValue integer_value(lua_Integer value);

bool has_user_values(lua_State* L, RawValue userdata);

/// The function that a frame runs; a register of it, from 0; a constant of a Lua function.
RawValue function_of(const lua_Debug& frame);
RawValue register_of(const lua_Debug& frame, int number);
RawValue constant_of(RawValue function, int number);
RawValue variable_of(RawValue function, int number);  ///< that it shares with others
/// Behind the instruction that a frame of a Lua function executes, or that a hook was called
/// before.
const std::uint32_t* next_instruction_of(const lua_Debug& frame);

/// A variable that a closure has outlived is closed: it holds its value itself.
bool is_closed(RawValue variable);
RawValue value_of(RawValue variable);
const RawValue* place_of(RawValue variable);  ///< of its value

/// Keeps what lies above the stack, for code that pushes a few values where no function of the
/// script may see that it did: registers are not cleared before they are used.
class Untouched {
 public:
  explicit Untouched(lua_State* L);
  ~Untouched();
  Untouched(const Untouched&) = delete;
  Untouched& operator=(const Untouched&) = delete;

 private:
  static constexpr int kValues = 16;
  lua_State* state_;
  int top_;
  RawValue before_[kValues];
};

}  // namespace raw

/// Raises a Lua error when this Lua lays out its values differently. A native: called by Lua.
void check_raw_layout(lua_State* L);

}  // namespace ohm::lua
