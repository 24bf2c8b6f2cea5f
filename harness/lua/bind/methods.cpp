#include "harness/lua/bind/methods.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "allocator_shim/base/nearest_name.h"
#include "harness/lua/bind/arguments.h"
#include "harness/lua/vm/interpreter.h"

namespace ohm::lua {

std::span<const luaL_Reg> methods_of(lua_State* L, const HandleClass& kind) {
  const ClassBinding* binding = Interpreter::of(L).bindings().find_class(kind);
  if (binding == nullptr) return {};
  return binding->methods;
}

lua_CFunction find_method(std::span<const luaL_Reg> methods, std::string_view name) {
  const auto found = std::lower_bound(methods.begin(), methods.end(), name,
                                      [](const luaL_Reg& method, std::string_view wanted) {
                                        return wanted.compare(method.name) > 0;
                                      });
  return found != methods.end() && name == found->name ? found->func : nullptr;
}

int push_method(lua_State* L, std::span<const luaL_Reg> methods, std::string_view kind,
                std::vector<std::string> others) {
  const std::string_view name = string_argument(L, 2, {kind, "name"});
  if (const lua_CFunction method = find_method(methods, name)) {
    lua_pushcfunction(L, method);
    return 1;
  }
  for (const luaL_Reg& method : methods) others.emplace_back(method.name);
  throw std::invalid_argument(
      fmt::format("[{}] has no '{}'{}", kind, name, did_you_mean(name, others)));
}

}  // namespace ohm::lua
