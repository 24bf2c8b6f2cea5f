// Numbered functions: one plain function for each row of a registry.
#pragma once

#include <array>
#include <cstddef>
#include <lua.hpp>
#include <utility>

#include "harness/lua/bind/native.h"

namespace ohm::lua {

// A closure for each row would be an object of the script's heap, which is walked at every call;
// a function with the row's number compiled in is none.

template <int (*F)(lua_State* L, std::size_t number), std::size_t N>
int call_numbered(lua_State* L) {
  return F(L, N);
}

template <int (*F)(lua_State* L, std::size_t number), std::size_t... N>
constexpr std::array<lua_CFunction, sizeof...(N)> functions_of(std::index_sequence<N...> /*all*/) {
  return {native<call_numbered<F, N>>...};
}

/// Natives that call F(L, 0), F(L, 1), …: more than there are rows.
template <int (*F)(lua_State* L, std::size_t number), std::size_t Count>
constexpr std::array<lua_CFunction, Count> numbered_functions() {
  return functions_of<F>(std::make_index_sequence<Count>());
}

}  // namespace ohm::lua
