// The tensors among values on the stack, in tables too: those that a call is given or returns.
#pragma once

#include <functional>
#include <lua.hpp>

#include "runtime/nn/module.h"

namespace ohm::lua {

/// What becomes of tables in which a tensor is replaced.
enum class Tables : bool {
  copied,  ///< the caller's stay what they are
  written
};

/// Hands the tensors from `first` to the top to `replace`, and puts on the stack, and in tables,
/// what it made of them.
void replace_tensors(lua_State* L, int first, Tables tables,
                     const std::function<void(const nn::CallEnvelope::Places&)>& replace);

}  // namespace ohm::lua
