#include "harness/lua/object_handle.h"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "allocator_shim/base/nearest_name.h"

namespace ohm::lua {

int push_method(lua_State* L, std::span<const luaL_Reg> methods, std::string_view kind,
                std::vector<std::string> others) {
  const std::string_view name = string_argument(L, 2, {kind, "name"});
  for (const luaL_Reg& method : methods) {
    if (name == method.name) return lua_pushcfunction(L, method.func), 1;
    others.emplace_back(method.name);
  }
  throw std::invalid_argument(
      fmt::format("[{}] has no '{}'{}", kind, name, did_you_mean(name, others)));
}

}  // namespace ohm::lua
