#include "harness/lua/vm/base_functions.h"

#include <array>
#include <cstddef>
#include <iterator>
#include <map>
#include <memory>
#include <new>

namespace ohm::lua {
namespace {

constexpr std::string_view kBaseFunctions[] = {
    "assert", "error",  "getmetatable", "ipairs", "pcall",    "rawequal",
    "rawget", "rawlen", "select",       "type",   "tonumber", "xpcall",
};

using BaseFunctions = std::map<std::string_view, lua_CFunction>;
using BaseAddresses = std::array<lua_CFunction, std::size(kBaseFunctions)>;

int find_base_functions(lua_State* L) {
  auto& found = *static_cast<BaseAddresses*>(lua_touserdata(L, 1));
  luaL_requiref(L, LUA_GNAME, luaopen_base, 0);
  for (std::size_t i = 0; i < found.size(); ++i) {
    lua_getfield(L, -1, kBaseFunctions[i].data());
    found[i] = lua_tocfunction(L, -1);
    lua_pop(L, 1);
  }
  return 0;
}

// Their addresses are the same for all states, but only a state can tell them.
const BaseFunctions& base_functions() {
  static const BaseFunctions functions = [] {
    const std::unique_ptr<lua_State, void (*)(lua_State*)> state(luaL_newstate(), &lua_close);
    if (!state) throw std::bad_alloc();
    BaseAddresses found{};
    lua_pushcfunction(state.get(), &find_base_functions);
    lua_pushlightuserdata(state.get(), &found);
    // Nothing but a lack of memory can go wrong there.
    if (lua_pcall(state.get(), 1, 0, 0) != LUA_OK) throw std::bad_alloc();
    BaseFunctions named;
    for (std::size_t i = 0; i < found.size(); ++i) named[kBaseFunctions[i]] = found[i];
    return named;
  }();
  return functions;
}

}  // namespace

std::span<const std::string_view> base_function_names() { return kBaseFunctions; }

lua_CFunction base_function(std::string_view name) {
  const auto found = base_functions().find(name);
  return found == base_functions().end() ? nullptr : found->second;
}

bool is_catching_function(lua_CFunction function) {
  const BaseFunctions& base = base_functions();
  return function != nullptr && (function == base.at("pcall") || function == base.at("xpcall"));
}

}  // namespace ohm::lua
