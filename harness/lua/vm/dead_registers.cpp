#include "harness/lua/vm/dead_registers.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include "harness/lua/vm/instruction.h"
#include "harness/lua/vm/script_frame.h"

namespace ohm::lua {
namespace {

// The register, from 0, of an operator's operand.
std::optional<int> operand_register(Instruction instruction, int index) {
  switch (instruction.opcode()) {
    case kArithmetic:
      return index == 1 ? instruction.a() : instruction.b();
    case kArithmeticWithSmallInteger:
    case kArithmeticWithConstant:
      return instruction.a();
    case kNegate:
    case kComplement:
      return instruction.b();
    case kGetTable:
      return index == 1 ? instruction.b() : instruction.c();
    case kGetField:
      return index == 1 ? std::optional<int>(instruction.b()) : std::nullopt;
    default:
      return std::nullopt;
  }
}

// In `a, b = x + 1, y + 1` the last sum goes to the variable b while the first one waits in a
// temporary. Then, and only then, the next instruction reads a temporary: the highest that is in
// use. -1 where it reads no register.
int highest_register_read(Instruction next) {
  const int value = next.k() ? -1 : next.c();
  switch (next.opcode()) {
    case kMove:
      return next.b();
    case kSetUpvalue:
      return next.a();
    case kSetGlobal:
      return value;
    case kSetTable:
      return std::max({next.a(), next.b(), value});
    case kSetInteger:
    case kSetField:
      return std::max(next.a(), value);
    default:
      return -1;
  }
}

bool is_field_assignment(Instruction instruction) {
  const std::uint32_t opcode = instruction.opcode();
  return opcode == kSetTable || opcode == kSetInteger || opcode == kSetField;
}

// The first register (from 1) that is dead together with all above it.
std::optional<int> first_dead_register(lua_State* L, const lua_Debug& frame) {
  const Instruction* next = next_instruction(frame);
  int number = 1;
  if (!is_field_assignment(next[-1])) {
    const std::optional<int> result = result_register(next);
    if (!result) return std::nullopt;
    number = *result + 1;
    if (use_of(L, frame, number) == RegisterUse::temporary) return number;
  }
  while (use_of(L, frame, number) == RegisterUse::variable) ++number;
  const int read = highest_register_read(*next) + 1;
  return std::max(number, read + 1);
}

// What check_frame_layout() looks for: [a] + [b] as the first statement of a function.
int probe_sum(lua_State* L) {
  lua_Debug frame;
  lua_getstack(L, 1, &frame);
  const Instruction* next = next_instruction(frame);
  const std::optional<int> result = result_register(next);
  lua_pushboolean(L, result == 2 && next[-1].opcode() == kArithmetic && next[-2].b() == 0 &&
                         next[-2].c() == 1 && next[0].opcode() == kNegate);
  return 1;
}

constexpr std::string_view kProbe = "local a, b = ...; local c = a + b; return -b, c";

}  // namespace

void clear_dead_registers(lua_State* L) {
  const std::optional<lua_Debug> frame = calling_function(L);
  if (!frame) return;
  const std::optional<int> first = first_dead_register(L, *frame);
  if (!first) return;
  lua_pushnil(L);
  for (int number = *first; lua_setlocal(L, &*frame, number) != nullptr; ++number) lua_pushnil(L);
  lua_pop(L, 1);
}

bool is_variable_operand(lua_State* L, int index) {
  const std::optional<lua_Debug> frame = calling_function(L);
  if (!frame) return false;
  const std::optional<int> operand = operand_register(next_instruction(*frame)[-1], index);
  return operand && use_of(L, *frame, *operand + 1) == RegisterUse::variable;
}

bool is_initial_value_to_close(lua_State* L) {
  const std::optional<lua_Debug> frame = calling_function(L);
  return frame && next_instruction(*frame)->opcode() == kToBeClosed;
}

bool set_loop_state(lua_State* L, int index) {
  const std::optional<lua_Debug> frame = calling_function(L);
  if (!frame) return false;
  const Instruction call = next_instruction(*frame)[-1];
  if (call.opcode() != kCallIterator) return false;
  lua_pushvalue(L, index);
  // The iterator, then the state; variables are numbered from 1.
  return lua_setlocal(L, &*frame, call.a() + 2) != nullptr;
}

namespace {

// Lists of lists, as of the keys and values of several layers.
constexpr int kMostNestedLists = 3;

void visit_list(lua_State* L, int index, int depth, const std::function<void(const void*)>& visit) {
  constexpr lua_Unsigned kMost = 256;
  const auto count = static_cast<lua_Integer>(std::min(lua_rawlen(L, index), kMost));
  const int list = lua_absindex(L, index);
  for (lua_Integer i = count; i > 0; --i) {
    const int type = lua_rawgeti(L, list, i);
    if (type == LUA_TUSERDATA) visit(lua_touserdata(L, -1));
    const bool is_followed = type == LUA_TTABLE && depth < kMostNestedLists;
    if (is_followed && lua_checkstack(L, 2) != 0) visit_list(L, -1, depth + 1, visit);
    lua_pop(L, 1);
  }
}

}  // namespace

void for_each_handle_in_list(lua_State* L, int index,
                             const std::function<void(const void*)>& visit) {
  visit_list(L, index, 1, visit);
}

void for_each_handle_in_variables(lua_State* L, const lua_Debug& frame,
                                  const std::function<void(const void*)>& visit) {
  for (int number = 1;; ++number) {
    const char* name = lua_getlocal(L, &frame, number);
    if (name == nullptr) return;
    const bool is_variable = name[0] != '(' || std::string_view(name) == "(for state)";
    if (is_variable && lua_type(L, -1) == LUA_TUSERDATA) visit(lua_touserdata(L, -1));
    if (is_variable && lua_type(L, -1) == LUA_TTABLE) for_each_handle_in_list(L, -1, visit);
    lua_pop(L, 1);
    if (!is_variable) return;
  }
}

void check_frame_layout(lua_State* L) {
  const int top = lua_gettop(L);
  luaL_loadbufferx(L, kProbe.data(), kProbe.size(), "=(probe)", "t");
  lua_newtable(L);
  lua_newtable(L);
  lua_pushcfunction(L, &probe_sum);
  lua_setfield(L, -2, "__add");
  lua_setmetatable(L, -2);
  lua_pushinteger(L, 1);
  lua_call(L, 2, 2);
  const bool is_as_expected = lua_toboolean(L, -1) != 0;
  lua_settop(L, top);
  if (!is_as_expected) luaL_error(L, "this Lua lays out its call frames differently from 5.4.4");
}

}  // namespace ohm::lua
