// Fingerprint of a script's state: equal states have equal numbers.
#pragma once

#include <cstdint>
#include <lua.hpp>
#include <optional>

namespace ohm::lua {

/// Of every value that the script can reach: numbers, strings, booleans, and how tables and
/// functions hold them. Equal states have equal numbers, whatever the order of tables and the
/// addresses of objects; numbers of one program only can be compared. nullopt where the script
/// holds something with a state that cannot be seen from here: a tensor, a module, a coroutine, ….
std::optional<std::uint64_t> fingerprint_of(lua_State* L);

}  // namespace ohm::lua
