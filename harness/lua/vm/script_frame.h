// Frames of Lua functions: the instruction that runs, and what registers are.
#pragma once

#include <lua.hpp>

#include <optional>

#include "harness/lua/vm/instruction.h"

namespace ohm::lua {

/// The instruction behind the one that a Lua function's frame executes.
const Instruction* next_instruction(const lua_Debug& frame);

/// Whether the frame is one of a Lua function; a native's has no instructions.
bool is_lua_function(const lua_Debug& frame);

/// The frame of the Lua function that called the running native; nothing where a native did.
std::optional<lua_Debug> calling_function(lua_State* L);

/// The register, from 0, that the operator before `next` puts its result into; nothing where that
/// instruction is no operator.
std::optional<int> result_register(const Instruction* next);

enum class RegisterUse { variable, temporary, none };

/// Of register `number`, from 1, at this instruction.
RegisterUse use_of(lua_State* L, const lua_Debug& frame, int number);

}  // namespace ohm::lua
