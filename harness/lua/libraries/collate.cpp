#include "harness/lua/libraries/collate.h"

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/lua/bind/arguments.h"
#include "harness/lua/bind/table_order.h"
#include "harness/lua/bind/tensor_handle.h"
#include "harness/lua/libraries/fixed_order.h"
#include "harness/lua/vm/interpreter.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/ops/shape/concat.h"
#include "runtime/ops/shape/view.h"

namespace ohm::lua {
namespace {

constexpr ArgumentName kItem{"default_collate", "item"};

/// Deeper tables are refused: one that contains itself has no end.
constexpr int kCollateMostLevels = 32;

void check_level(lua_State* L, int level, std::string_view function) {
  if (level > kCollateMostLevels) {
    throw std::invalid_argument(
        fmt::format("[{}] tables can be nested at most {} levels deep: does one contain itself?",
                    function, kCollateMostLevels));
  }
  luaL_checkstack(L, LUA_MINSTACK, "tables in tables");
}

void push_collated_level(lua_State* L, int list, lua_Integer count, int level);

void push_stacked(lua_State* L, int list, lua_Integer count) {
  std::vector<Tensor> tensors;
  for (lua_Integer i = 1; i <= count; ++i) {
    lua_rawgeti(L, list, i);
    tensors.push_back(tensor_argument(L, -1, kItem));
    lua_pop(L, 1);
  }
  push_tensor(L, ops::stack(tensors, 0));
}

// Booleans stay booleans, integers int64; one number with a fraction makes all of them float64.
void push_numbers(lua_State* L, int list, lua_Integer count) {
  std::vector<double> values;
  DType dtype = DType::boolean;
  for (lua_Integer i = 1; i <= count; ++i) {
    lua_rawgeti(L, list, i);
    if (lua_isboolean(L, -1)) {
      values.push_back(lua_toboolean(L, -1));
    } else {
      values.push_back(number_argument(L, -1, kItem));
      const DType own = lua_isinteger(L, -1) != 0 ? DType::int64 : DType::float64;
      if (dtype != DType::float64) dtype = own;
    }
    lua_pop(L, 1);
  }
  push_tensor(L, from_values(values, {count}, {dtype, Device::cpu()}));
}

// Pushes the list of what the items have under the key on top of the stack, which stays.
void push_column(lua_State* L, int list, lua_Integer count) {
  const int key = lua_gettop(L);
  lua_createtable(L, static_cast<int>(count), 0);
  for (lua_Integer i = 1; i <= count; ++i) {
    lua_rawgeti(L, list, i);
    if (lua_type(L, -1) != LUA_TTABLE)
      refuse_argument(L, -1, kItem, "a table, as the first one is");
    lua_pushvalue(L, key);
    lua_gettable(L, -2);
    lua_remove(L, -2);
    // A function of the script may have been called for what came before.
    Interpreter::of(L).lifetimes().before_append(L, -2);
    lua_rawseti(L, -2, i);
  }
}

// A table with the keys of the first item.
void push_fields(lua_State* L, int list, lua_Integer count, int level) {
  lua_newtable(L);
  const int result = lua_gettop(L);
  lua_rawgeti(L, list, 1);
  const int first = lua_gettop(L);
  lua_pushcfunction(L, &next_in_order);
  const int next = lua_gettop(L);
  lua_pushnil(L);
  while (true) {
    const int key = lua_gettop(L);
    lua_pushvalue(L, next);
    lua_pushvalue(L, first);
    lua_pushvalue(L, key);
    lua_call(L, 2, 1);
    lua_replace(L, key);
    if (lua_isnil(L, key)) break;
    push_column(L, list, count);
    push_collated_level(L, lua_gettop(L), count, level + 1);
    lua_remove(L, -2);
    lua_pushvalue(L, key);
    lua_insert(L, -2);
    Interpreter::of(L).lifetimes().before_write(L, result, -2);
    lua_rawset(L, result);
  }
  lua_settop(L, result);
}

void push_collated_level(lua_State* L, int list, lua_Integer count, int level) {
  check_level(L, level, kItem.function);
  lua_rawgeti(L, list, 1);
  const int type = lua_type(L, -1);
  const bool is_tensor = test_handle<Tensor>(L, -1) != nullptr;
  if (!is_tensor && type != LUA_TNUMBER && type != LUA_TBOOLEAN && type != LUA_TSTRING &&
      type != LUA_TTABLE) {
    refuse_argument(L, -1, kItem, "a tensor, a number, a boolean, a string or a table");
  }
  lua_pop(L, 1);
  if (is_tensor) return push_stacked(L, list, count);
  if (type == LUA_TTABLE) return push_fields(L, list, count, level);
  if (type == LUA_TSTRING) return lua_pushvalue(L, list);
  push_numbers(L, list, count);
}

void push_replaced_level(lua_State* L, int index, Tensor (*replace)(const Tensor& tensor),
                         int level) {
  check_level(L, level, "DataLoader");
  const int value = lua_absindex(L, index);
  if (const Tensor* tensor = test_handle<Tensor>(L, value)) {
    push_tensor(L, replace(*tensor));
  } else if (lua_type(L, value) != LUA_TTABLE) {
    lua_pushvalue(L, value);
  } else {
    lua_newtable(L);
    const int result = lua_gettop(L);
    for_each_entry(L, value, [&] {
      push_replaced_level(L, -1, replace, level + 1);
      lua_remove(L, -2);
      lua_rawset(L, result);
    });
  }
}

}  // namespace

void push_collated(lua_State* L, int list, lua_Integer count) {
  push_collated_level(L, list, count, 0);
}

void push_with_tensors_replaced(lua_State* L, int index, Tensor (*replace)(const Tensor& tensor)) {
  push_replaced_level(L, index, replace, 0);
}

}  // namespace ohm::lua
