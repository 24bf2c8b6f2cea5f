// `ohm.nn.utils.rnn`: sequences of several lengths.
//
//   local packed = nn.utils.rnn.pack_padded_sequence(x, {5, 3, 2}, {batch_first = true})
//   local padded, lengths = nn.utils.rnn.pad_packed_sequence(packed, {batch_first = true})
#pragma once

#include <lua.hpp>
#include <span>

namespace ohm::lua {

std::span<const luaL_Reg> packed_sequence_functions();

}  // namespace ohm::lua
