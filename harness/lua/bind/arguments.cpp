#include "harness/lua/bind/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "allocator_shim/base/nearest_name.h"
#include "harness/lua/bind/handle.h"
#include "harness/lua/vm/push_text.h"
#include "runtime/tensor/context.h"

namespace ohm::lua {
namespace {

constexpr std::int64_t kLastGpu = 1023;  // as parse_device has it

// The keys of a table that are strings, in byte order.
std::vector<std::string> names_in(lua_State* L, int table) {
  std::vector<std::string> names;
  for (lua_pushnil(L); lua_next(L, table) != 0; lua_pop(L, 1)) {
    if (lua_type(L, -2) == LUA_TSTRING) names.emplace_back(lua_tostring(L, -2));
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

std::string type_of(lua_State* L, int index) {
  if (const HandleClass* kind = handle_class(L, index)) return kind->name;
  return lua_isnone(L, index) ? "nil" : luaL_typename(L, index);
}

void refuse_argument(lua_State* L, int index, const ArgumentName& name, std::string_view expected) {
  std::string got = type_of(L, index);
  const int type = lua_type(L, index);
  if (type == LUA_TNUMBER || type == LUA_TSTRING) {
    lua_pushvalue(L, index);
    got = lua_tostring(L, -1);
    if (type == LUA_TSTRING) got = "\"" + got + "\"";
    lua_pop(L, 1);
  }
  throw std::invalid_argument(fmt::format("[{}] argument '{}' must be {}, got {}", name.function,
                                          name.argument, expected, got));
}

double number_argument(lua_State* L, int index, const ArgumentName& name) {
  if (lua_type(L, index) != LUA_TNUMBER) refuse_argument(L, index, name, "a number");
  return lua_tonumber(L, index);
}

std::int64_t integer_argument(lua_State* L, int index, const ArgumentName& name) {
  int is_integer = 0;
  const lua_Integer value = lua_tointegerx(L, index, &is_integer);
  if (is_integer == 0 || lua_type(L, index) != LUA_TNUMBER) {
    refuse_argument(L, index, name, "an integer");
  }
  return value;
}

bool boolean_argument(lua_State* L, int index, const ArgumentName& name) {
  if (!lua_isboolean(L, index)) refuse_argument(L, index, name, "a boolean");
  return lua_toboolean(L, index) != 0;
}

std::string_view string_argument(lua_State* L, int index, const ArgumentName& name) {
  if (lua_type(L, index) != LUA_TSTRING) refuse_argument(L, index, name, "a string");
  std::size_t length = 0;
  const char* text = lua_tolstring(L, index, &length);
  return {text, length};
}

Shape sizes_argument(lua_State* L, int index, const ArgumentName& name) {
  if (lua_type(L, index) == LUA_TNUMBER) return {integer_argument(L, index, name)};
  if (lua_type(L, index) != LUA_TTABLE) refuse_argument(L, index, name, "a list of integers");
  Shape sizes;
  const int list = lua_absindex(L, index);
  const lua_Integer count = list_length(L, list, name);
  for (lua_Integer i = 1; i <= count; ++i) {
    lua_rawgeti(L, list, i);
    const std::string element = fmt::format("{}[{}]", name.argument, i);
    sizes.push_back(integer_argument(L, -1, {name.function, element}));
    lua_pop(L, 1);
  }
  return sizes;
}

DType dtype_argument(lua_State* L, int index, const ArgumentName& name) {
  if (lua_type(L, index) != LUA_TSTRING) refuse_argument(L, index, name, "a dtype");
  return parse_dtype(lua_tostring(L, index));
}

Device device_argument(lua_State* L, int index, const ArgumentName& name) {
  if (lua_type(L, index) == LUA_TNUMBER) {
    const std::int64_t number = integer_argument(L, index, name);
    if (number < 0 || number > kLastGpu) refuse_argument(L, index, name, "a device");
    return Device::cuda(static_cast<int>(number));
  }
  if (lua_type(L, index) != LUA_TSTRING) refuse_argument(L, index, name, "a device");
  return parse_device(lua_tostring(L, index), Context::current().state.current_gpu);
}

lua_Integer list_length(lua_State* L, int index, const ArgumentName& name) {
  const std::vector<std::string> names = names_in(L, lua_absindex(L, index));
  if (!names.empty()) {
    throw std::invalid_argument(
        fmt::format("[{}] argument '{}' must be a list, but has a field '{}'", name.function,
                    name.argument, names.front()));
  }
  return static_cast<lua_Integer>(lua_rawlen(L, index));
}

bool is_named_table(lua_State* L, int index) {
  if (lua_type(L, index) != LUA_TTABLE || lua_rawlen(L, index) != 0) return false;
  const int table = lua_absindex(L, index);
  lua_pushnil(L);
  if (lua_next(L, table) == 0) return false;
  const bool has_name = lua_type(L, -2) == LUA_TSTRING;
  lua_pop(L, 2);
  return has_name;
}

NamedArguments::NamedArguments(lua_State* L, std::string_view function)
    : state_(L), function_(function), positional_count_(lua_gettop(L)) {
  if (positional_count_ > 0 && is_named_table(L, positional_count_)) table_ = positional_count_--;
}

NamedArguments::NamedArguments(lua_State* L, std::string_view function, int table)
    : state_(L), function_(function), positional_count_(lua_gettop(L)), table_(table) {}

bool NamedArguments::push(std::string_view name) const {
  if (table_ == 0) return false;
  push_text(state_, name);
  if (lua_rawget(state_, table_) != LUA_TNIL) return true;
  lua_pop(state_, 1);
  return false;
}

void NamedArguments::check_names(std::span<const std::string_view> known) const {
  if (table_ == 0) return;
  for (const std::string& name : names_in(state_, table_)) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    throw std::invalid_argument(fmt::format("[{}] has no argument '{}'{}", function_, name,
                                            did_you_mean(name, {known.begin(), known.end()})));
  }
}

bool NamedArguments::boolean(std::string_view name, bool otherwise) const {
  if (!push(name)) return otherwise;
  const bool value = boolean_argument(state_, -1, {function_, name});
  lua_pop(state_, 1);
  return value;
}

double NamedArguments::number(std::string_view name, double otherwise) const {
  if (!push(name)) return otherwise;
  const double value = number_argument(state_, -1, {function_, name});
  lua_pop(state_, 1);
  return value;
}

std::int64_t NamedArguments::integer(std::string_view name, std::int64_t otherwise) const {
  if (!push(name)) return otherwise;
  const std::int64_t value = integer_argument(state_, -1, {function_, name});
  lua_pop(state_, 1);
  return value;
}

DType NamedArguments::dtype(std::string_view name, DType otherwise) const {
  if (!push(name)) return otherwise;
  const DType value = dtype_argument(state_, -1, {function_, name});
  lua_pop(state_, 1);
  return value;
}

Device NamedArguments::device(std::string_view name, Device otherwise) const {
  if (!push(name)) return otherwise;
  const Device value = device_argument(state_, -1, {function_, name});
  lua_pop(state_, 1);
  return value;
}

void place_named_arguments(lua_State* L, std::string_view function,
                           std::span<const std::string_view> own) {
  const int given = NamedArguments(L, function).positional_count();
  if (given == lua_gettop(L)) return;
  luaL_checkstack(L, static_cast<int>(own.size()), nullptr);
  int position = given;
  for (std::size_t i = 0; i < own.size(); ++i) {
    const NamedArguments named(L, function, lua_gettop(L));  // each that is placed moves the table
    if (!named.push(own[i])) continue;
    if (static_cast<int>(i) < given) {
      throw std::invalid_argument(
          fmt::format("[{}] argument '{}' is given twice", function, own[i]));
    }
    lua_insert(L, ++position);
  }
}

Shape sizes_arguments(lua_State* L, int first, const NamedArguments& named) {
  const ArgumentName name{named.function(), "size"};
  const int last = named.positional_count();
  if (first == last && lua_type(L, first) == LUA_TTABLE) return sizes_argument(L, first, name);
  Shape sizes;
  for (int index = first; index <= last; ++index) {
    sizes.push_back(integer_argument(L, index, name));
  }
  return sizes;
}

}  // namespace ohm::lua
