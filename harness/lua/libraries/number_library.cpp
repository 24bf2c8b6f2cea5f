#include "harness/lua/libraries/number_library.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <numbers>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "harness/lua/bind/arguments.h"
#include "harness/lua/bind/native.h"
#include "harness/lua/vm/push_text.h"
#include "runtime/base/float_limits.h"

namespace ohm::lua {
namespace {

// ---- limits of dtypes ---------------------------------------------------------------------------

DType optional_dtype(lua_State* L, const ArgumentName& name, DType otherwise) {
  return lua_isnoneornil(L, 1) ? otherwise : dtype_argument(L, 1, name);
}

void set_integer(lua_State* L, const char* name, std::int64_t value) {
  lua_pushinteger(L, value);
  lua_setfield(L, -2, name);
}

// finfo([dtype])
int finfo(lua_State* L) {
  const DType dtype = optional_dtype(L, {"finfo", "type"}, DType::float32);
  const FloatLimits* const limits = find_float_limits(dtype);
  if (limits == nullptr) {
    throw std::invalid_argument(fmt::format(
        "torch.finfo() requires a floating point input type, not {}: use ohm.iinfo to handle it",
        name_of(dtype)));
  }
  const std::pair<const char*, double> numbers[] = {
      {"eps", limits->eps},
      {"max", limits->max},
      {"min", -limits->max},
      {"resolution", limits->resolution},
      {"smallest_normal", limits->tiny},
      {"tiny", limits->tiny},
  };
  lua_newtable(L);
  for (const auto& [name, value] : numbers) {
    lua_pushnumber(L, value);
    lua_setfield(L, -2, name);
  }
  set_integer(L, "bits", static_cast<std::int64_t>(8 * item_bytes(dtype)));
  push_text(L, name_of(dtype));
  lua_setfield(L, -2, "dtype");
  return 1;
}

// iinfo(dtype)
int iinfo(lua_State* L) {
  const DType dtype = dtype_argument(L, 1, {"iinfo", "type"});
  if (is_floating(dtype) || dtype == DType::boolean) {
    throw std::invalid_argument(fmt::format(
        "torch.iinfo() requires an integer input type, not {}: use ohm.finfo to handle it",
        name_of(dtype)));
  }
  lua_newtable(L);
  set_integer(L, "bits", static_cast<std::int64_t>(8 * item_bytes(dtype)));
  visit_dtype(dtype, [L]<class T>(TypeTag<T>) {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      set_integer(L, "min", std::numeric_limits<T>::min());
      set_integer(L, "max", std::numeric_limits<T>::max());
    }
  });
  push_text(L, name_of(dtype));
  lua_setfield(L, -2, "dtype");
  return 1;
}

// ---- names of devices ---------------------------------------------------------------------------

// device(type [, index]): what `device = …` takes, a name
int device(lua_State* L) {
  const ArgumentName name{"device", "type"};
  std::string text{string_argument(L, 1, name)};
  if (!lua_isnoneornil(L, 2)) {
    text += fmt::format(":{}", integer_argument(L, 2, {"device", "index"}));
  }
  push_text(L, text);
  device_argument(L, -1, name);
  return 1;
}

constexpr luaL_Reg kNumberFunctions[] = {
    {"device", native<device>},
    {"finfo", native<finfo>},
    {"iinfo", native<iinfo>},
};

// ---- constants ----------------------------------------------------------------------------------

constexpr std::pair<std::string_view, double> kNumbers[] = {
    {"e", std::numbers::e},
    {"inf", std::numeric_limits<double>::infinity()},
    {"nan", std::numeric_limits<double>::quiet_NaN()},
    {"pi", std::numbers::pi},
};
constexpr std::string_view kDTypeAliases[] = {"double", "float", "half", "int", "long", "short"};

}  // namespace

std::span<const luaL_Reg> number_functions() { return kNumberFunctions; }

bool push_constant(lua_State* L, std::string_view name) {
  for (const auto& [known, value] : kNumbers) {
    if (known == name) return lua_pushnumber(L, value), true;
  }
  if (std::find(std::begin(kDTypeAliases), std::end(kDTypeAliases), name) ==
      std::end(kDTypeAliases)) {
    return false;
  }
  push_text(L, name_of(parse_dtype(name)));
  return true;
}

std::vector<std::string> constant_names() {
  std::vector<std::string> names(std::begin(kDTypeAliases), std::end(kDTypeAliases));
  for (const auto& [name, value] : kNumbers) names.emplace_back(name);
  return names;
}

}  // namespace ohm::lua
