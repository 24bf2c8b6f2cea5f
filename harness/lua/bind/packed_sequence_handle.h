// Handles of packed sequences, and recurrent modules that are called with one.
#pragma once

#include <lua.hpp>
#include <memory>
#include <optional>

#include "harness/lua/bind/handle.h"
#include "runtime/nn/module.h"
#include "runtime/nn/packed_sequence.h"

namespace ohm::lua {

using PackedSequencePtr = std::shared_ptr<const nn::PackedSequence>;

template <>
struct HandleOf<PackedSequencePtr> {
  static const HandleClass kClass;
};

void push_packed_sequence(lua_State* L, nn::PackedSequence sequence);

/// module(sequence [, states]), where the first input is one: pushes a list of the output, packed
/// as the input is, and the last states. Nothing where the input is something else.
std::optional<int> call_with_packed_sequence(lua_State* L, nn::Module& module);

}  // namespace ohm::lua
