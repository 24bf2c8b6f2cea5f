#include "harness/lua/vm/script_frame.h"

#include <string_view>

#include "harness/lua/vm/raw_values.h"

namespace ohm::lua {

const Instruction* next_instruction(const lua_Debug& frame) {
  return reinterpret_cast<const Instruction*>(raw::next_instruction_of(frame));
}

bool is_lua_function(const lua_Debug& frame) {
  return raw::function_of(frame).tag == raw::kLuaFunction;
}

std::optional<lua_Debug> calling_function(lua_State* L) {
  lua_Debug frame;
  if (lua_getstack(L, 1, &frame) == 0 || !is_lua_function(frame)) return std::nullopt;
  return frame;
}

std::optional<int> result_register(const Instruction* next) {
  switch (next[-1].opcode()) {
    case kArithmetic:
    case kArithmeticWithSmallInteger:
    case kArithmeticWithConstant:
      return next[-2].a();
    case kNegate:
    case kComplement:
    case kGetTable:
    case kGetField:
      return next[-1].a();
    default:
      return std::nullopt;
  }
}

RegisterUse use_of(lua_State* L, const lua_Debug& frame, int number) {
  const char* name = lua_getlocal(L, &frame, number);
  if (name == nullptr) return RegisterUse::none;
  lua_pop(L, 1);
  return std::string_view(name) == "(temporary)" ? RegisterUse::temporary : RegisterUse::variable;
}

}  // namespace ohm::lua
