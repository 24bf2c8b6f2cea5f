#include "harness/lua/bind/module_handle.h"

#include <algorithm>
#include <string>
#include <utility>

#include "harness/lua/bind/op_arguments.h"
#include "harness/lua/bind/tensor_handle.h"

namespace ohm::lua {
namespace {

using nn::ModulePtr;
using nn::Value;

// Whether the list at `index` begins with a number: sizes, not tensors.
bool is_list_of_sizes(lua_State* L, int index) {
  lua_rawgeti(L, index, 1);
  const bool is_number = lua_type(L, -1) == LUA_TNUMBER;
  lua_pop(L, 1);
  return is_number;
}

}  // namespace

const HandleClass HandleOf<ModulePtr>::kClass = {"module", {}, /*is_listed=*/true};

void push_module(lua_State* L, ModulePtr module) { push_handle<ModulePtr>(L, std::move(module)); }

std::vector<ModulePtr> modules_with_handles(lua_State* L) {
  std::vector<ModulePtr> modules;
  for (void* const memory : Interpreter::of(L).listed_handles) {
    const auto* const handle = static_cast<const Handle<ModulePtr>*>(memory);
    if (handle->kind == &HandleOf<ModulePtr>::kClass) modules.push_back(handle->value);
  }
  std::sort(modules.begin(), modules.end());
  modules.erase(std::unique(modules.begin(), modules.end()), modules.end());
  return modules;
}

const ModulePtr& module_argument(lua_State* L, int index, const ArgumentName& name) {
  const ModulePtr* module = test_handle<ModulePtr>(L, index);
  if (module == nullptr || !*module) refuse_argument(L, index, name, "a module");
  return *module;
}

std::vector<ModulePtr> modules_arguments(lua_State* L, const ArgumentName& name) {
  if (lua_gettop(L) == 1 && lua_type(L, 1) == LUA_TTABLE) {
    const auto count = static_cast<int>(lua_rawlen(L, 1));
    luaL_checkstack(L, count + LUA_MINSTACK, "too many modules");
    for (int i = 1; i <= count; ++i) lua_rawgeti(L, 1, i);
    lua_remove(L, 1);
  }
  std::vector<ModulePtr> modules;
  for (int index = 1; index <= lua_gettop(L); ++index) {
    modules.push_back(module_argument(L, index, name));
  }
  return modules;
}

Value call_argument(lua_State* L, int index, const ArgumentName& name) {
  switch (lua_type(L, index)) {
    case LUA_TNIL:
      return {};
    case LUA_TBOOLEAN:
      return lua_toboolean(L, index) != 0;
    case LUA_TNUMBER:
      if (lua_isinteger(L, index) != 0) return std::int64_t{lua_tointeger(L, index)};
      return lua_tonumber(L, index);
    case LUA_TSTRING:
      return std::string(lua_tostring(L, index));
    case LUA_TTABLE:
      return value_argument(
          L, index,
          is_list_of_sizes(L, index) ? ops::ParamKind::size_list : ops::ParamKind::tensor_list,
          name);
    default:
      return tensor_argument(L, index, name);
  }
}

void push_call_argument(lua_State* L, const Value& value) {
  if (std::holds_alternative<std::monostate>(value)) return lua_pushnil(L);
  const auto* tensors = std::get_if<std::vector<Tensor>>(&value);
  if (tensors == nullptr) {
    push_value(L, value);
    return;
  }
  // The last handle is the oldest: elements of a list that dies go from the last to the first.
  lua_createtable(L, static_cast<int>(tensors->size()), 0);
  for (std::size_t i = tensors->size(); i > 0; --i) {
    push_tensor(L, (*tensors)[i - 1]);
    lua_rawseti(L, -2, static_cast<lua_Integer>(i));
  }
}

}  // namespace ohm::lua
