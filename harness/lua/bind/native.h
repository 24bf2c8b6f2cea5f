// Natives: the one adapter around every function that scripts can call.
#pragma once

#include <lua.hpp>

namespace ohm::lua {

/// How a script reaches a native, and with it what has to happen before the native runs.
enum class Entry {
  call,           ///< `f(x)`: what the script cannot reach any more is collected first
  operator_call,  ///< `a + b`: the same, after clear_dead_registers()
  access,         ///< `x.shape`: it neither allocates device memory nor reads a counter
  assignment,     ///< `x.field = y`: nor does this, but it ends what the field held
};

/// Runs `function` with the runtime told which line of the script it belongs to. A C++ exception
/// that leaves it becomes a Lua error, after its destructors have run:
///   std::invalid_argument, std::runtime_error   the string "file:line: [op] message"
///   OutOfMemory                                 a value with fields (out_of_memory_value.h)
///   engine::ScriptError                         its message
///   anything else                               ends the script: Interpreter::call() throws it
int run_native(lua_State* L, lua_CFunction function, Entry entry);

/// run_native() as a lua_CFunction: a plain function, so that it costs the script's heap nothing.
template <lua_CFunction F, Entry E = Entry::call>
int native(lua_State* L) {
  return run_native(L, F, E);
}

}  // namespace ohm::lua
