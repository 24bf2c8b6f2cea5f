// The out-of-memory error as scripts see it: a value with fields, whose text is PyTorch's.
#pragma once

#include <lua.hpp>

#include "allocator_shim/observe/out_of_memory.h"

namespace ohm::lua {

/// Pushes the error. It holds the variables of the functions, and the arguments of the modules,
/// between the failing native and the protected call that will catch it, as a Python exception's
/// traceback does, and those of the native itself where PyTorch has it in Python: their tensors
/// stay until the error itself is dropped.
void push_out_of_memory(lua_State* L, const OutOfMemory& error);

/// The error at `index`; nullptr when something else is there.
const OutOfMemory* test_out_of_memory(lua_State* L, int index);

}  // namespace ohm::lua
