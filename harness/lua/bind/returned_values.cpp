#include "harness/lua/bind/returned_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

#include "harness/lua/bind/arguments.h"
#include "harness/lua/bind/table_order.h"
#include "harness/lua/bind/tensor_handle.h"
#include "harness/lua/vm/table_key.h"
#include "runtime/arithmetic/factories.h"

namespace ohm::lua {
namespace {

using engine::ReturnedValue;
using engine::ReturnedValues;

constexpr int kReturnedValuesMostLevels = 8;
// Reports repeat a name wherever they speak of its value.
constexpr std::size_t kReturnedNameMostBytes = 1024;

/// Whether a double may be the rounding of an integer.
bool is_inexact(double value) { return std::abs(value) >= 0x1p53; }

ReturnedValue copy_tensor(const Tensor& tensor) {
  ReturnedValue value;
  value.dtype = name_of(tensor.dtype());
  value.shape.assign(tensor.shape().begin(), tensor.shape().end());
  value.has_values = tensor.has_values() || tensor.numel() == 0;
  if (!value.has_values) return value;
  value.values = to_doubles(tensor);
  const bool is_rounded = std::any_of(value.values.begin(), value.values.end(), is_inexact);
  if (tensor.dtype() == DType::int64 && is_rounded) value.integers = to_integers(tensor);
  return value;
}

ReturnedValue scalar(const char* dtype, double number) {
  ReturnedValue value;
  value.dtype = dtype;
  value.values = {number};
  return value;
}

ReturnedValue integer(lua_Integer number) {
  ReturnedValue value = scalar("integer", static_cast<double>(number));
  if (is_inexact(value.values[0])) value.integers = {number};
  return value;
}

ReturnedValue text(lua_State* L, int index) {
  std::size_t length = 0;
  const char* const bytes = lua_tolstring(L, index, &length);
  ReturnedValue value;
  value.dtype = "string";
  value.text.assign(bytes, length);
  return value;
}

class Copier {
 public:
  explicit Copier(lua_State* L) : state_(L) {}

  void copy(int index, const std::string& name, int level) {
    if (const Tensor* tensor = test_handle<Tensor>(state_, index)) {
      if (!tensor->defined())
        throw std::invalid_argument(refusal(name, "a tensor that was closed"));
      return add(name, copy_tensor(*tensor));
    }
    switch (lua_type(state_, index)) {
      case LUA_TNIL:
        return;
      case LUA_TNUMBER:
        return add(name, lua_isinteger(state_, index) != 0
                             ? integer(lua_tointeger(state_, index))
                             : scalar("number", lua_tonumber(state_, index)));
      case LUA_TBOOLEAN:
        return add(name, scalar("boolean", lua_toboolean(state_, index)));
      case LUA_TSTRING:
        return add(name, text(state_, index));
      case LUA_TTABLE:
        return copy_table(lua_absindex(state_, index), name, level);
      default:
        throw std::invalid_argument(refusal(name, type_of(state_, index)));
    }
  }

  ReturnedValues take() {
    std::stable_sort(values_.begin(), values_.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    const auto twin =
        std::adjacent_find(values_.begin(), values_.end(),
                           [](const auto& a, const auto& b) { return a.first == b.first; });
    if (twin != values_.end()) {
      throw std::invalid_argument(
          fmt::format("two values are returned as '{}': fields of tables are named like this, too",
                      twin->first));
    }
    return std::move(values_);
  }

 private:
  void add(const std::string& name, ReturnedValue value) {
    if (name.size() > kReturnedNameMostBytes) {
      throw std::invalid_argument(
          fmt::format("the variant returned a value whose name has {} bytes: at most {} are shown",
                      name.size(), kReturnedNameMostBytes));
    }
    values_.emplace_back(name.empty() ? "value" : name, std::move(value));
  }

  void copy_table(int table, const std::string& name, int level) {
    if (level == kReturnedValuesMostLevels) {
      throw std::invalid_argument(fmt::format("'{}' is nested too deeply to be returned", name));
    }
    luaL_checkstack(state_, LUA_MINSTACK, nullptr);
    check_keys(table, name);
    for (const TableKey& key : ordered_keys(state_, table)) {
      key.push(state_);
      lua_rawget(state_, table);
      copy(lua_gettop(state_), member_name(name, key), level + 1);
      lua_pop(state_, 1);
    }
  }

  void check_keys(int table, const std::string& name) {
    const auto refused = refused_key_type(state_, table, [](lua_State* L, int key) {
      return lua_isinteger(L, key) != 0 || lua_type(L, key) == LUA_TSTRING;
    });
    if (!refused) return;
    throw std::invalid_argument(fmt::format("'{}' has a key of type {}", name, *refused));
  }

  static std::string member_name(const std::string& of, const TableKey& key) {
    if (key.kind == TableKey::Kind::integer) return fmt::format("{}[{}]", of, key.integer);
    return of.empty() ? std::string(key.text) : fmt::format("{}.{}", of, key.text);
  }

  static std::string refusal(const std::string& name, const std::string& what) {
    return fmt::format(
        "the variant returned {} as '{}': it can return tensors, numbers, booleans, strings and "
        "tables of them",
        what, name.empty() ? "value" : name);
  }

  lua_State* state_;
  ReturnedValues values_;
};

}  // namespace

ReturnedValues copy_returned_values(lua_State* L, int index) {
  Copier copier(L);
  copier.copy(index, "", 0);
  return copier.take();
}

}  // namespace ohm::lua
