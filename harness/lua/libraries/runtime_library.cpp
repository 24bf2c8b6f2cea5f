#include "harness/lua/libraries/runtime_library.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <limits>
#include <numbers>
#include <stdexcept>

#include "harness/lua/bind/arguments.h"
#include "harness/lua/bind/native.h"
#include "harness/lua/bind/tensor_handle.h"
#include "harness/lua/vm/push_text.h"
#include "runtime/tensor/context.h"

namespace ohm::lua {
namespace {

int is_tensor(lua_State* L) {
  lua_pushboolean(L, test_handle<Tensor>(L, 1) != nullptr);
  return 1;
}

int default_manual_seed(lua_State* L) {
  Context::current().seed(
      static_cast<std::uint64_t>(integer_argument(L, 1, {"manual_seed", "seed"})));
  return 0;
}

int is_floating_point(lua_State* L) {
  const Tensor& tensor = tensor_argument(L, 1, {"is_floating_point", "input"});
  lua_pushboolean(L, is_floating(tensor.dtype()));
  return 1;
}

int numel(lua_State* L) {
  lua_pushinteger(L, tensor_argument(L, 1, {"numel", "input"}).numel());
  return 1;
}

// ---- what a dtype can hold ----------------------------------------------------------------------

void set_number(lua_State* L, const char* name, double value) {
  lua_pushnumber(L, value);
  lua_setfield(L, -2, name);
}

void set_integer(lua_State* L, const char* name, std::int64_t value) {
  lua_pushinteger(L, value);
  lua_setfield(L, -2, name);
}

void push_limits_of(lua_State* L, DType dtype) {
  lua_newtable(L);
  push_text(L, name_of(dtype));
  lua_setfield(L, -2, "dtype");
  set_integer(L, "bits", static_cast<std::int64_t>(item_bytes(dtype)) * 8);
}

struct FloatingLimits {
  DType dtype;
  double max;
  double eps;
  double smallest_normal;
  double resolution;
};

template <class T>
constexpr FloatingLimits limits_of(DType dtype, double resolution) {
  using Limits = std::numeric_limits<T>;
  return {dtype, Limits::max(), Limits::epsilon(), Limits::min(), resolution};
}

// IEEE 754's formats, and bfloat16: 8 bits of float32's exponent with 7 of a fraction.
constexpr std::array kFloatingLimits = {
    FloatingLimits{DType::float16, 65504.0, 0x1p-10, 0x1p-14, 1e-3},
    FloatingLimits{DType::bfloat16, 0x1.fep127, 0x1p-7, 0x1p-126, 1e-2},
    limits_of<float>(DType::float32, 1e-6),
    limits_of<double>(DType::float64, 1e-15),
};

// finfo(dtype): a table of max, min, eps, tiny, smallest_normal, resolution, bits and dtype.
int finfo(lua_State* L) {
  const DType dtype =
      lua_isnoneornil(L, 1) ? DType::float32 : dtype_argument(L, 1, {"finfo", "type"});
  for (const FloatingLimits& limits : kFloatingLimits) {
    if (limits.dtype != dtype) continue;
    push_limits_of(L, dtype);
    set_number(L, "max", limits.max);
    set_number(L, "min", -limits.max);
    set_number(L, "eps", limits.eps);
    set_number(L, "tiny", limits.smallest_normal);
    set_number(L, "smallest_normal", limits.smallest_normal);
    set_number(L, "resolution", limits.resolution);
    return 1;
  }
  throw std::invalid_argument(
      fmt::format("[finfo] {} is no floating dtype: ohm.iinfo has its limits", name_of(dtype)));
}

// iinfo(dtype): a table of max, min, bits and dtype.
int iinfo(lua_State* L) {
  const DType dtype = dtype_argument(L, 1, {"iinfo", "type"});
  if (is_floating(dtype) || dtype == DType::boolean) {
    throw std::invalid_argument(
        fmt::format("[iinfo] {} is no dtype of whole numbers", name_of(dtype)));
  }
  push_limits_of(L, dtype);
  const auto set_range = [L](auto least, auto most) {
    set_integer(L, "min", least);
    set_integer(L, "max", most);
  };
  visit_dtype(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      set_range(std::numeric_limits<T>::min(), std::numeric_limits<T>::max());
    }
  });
  return 1;
}

// ---- numbers ------------------------------------------------------------------------------------

struct NamedNumber {
  std::string_view name;
  double value;
};

constexpr std::array kNumbers = {
    NamedNumber{"e", std::numbers::e},
    NamedNumber{"inf", std::numeric_limits<double>::infinity()},
    NamedNumber{"nan", std::numeric_limits<double>::quiet_NaN()},
    NamedNumber{"pi", std::numbers::pi},
};

constexpr luaL_Reg kRuntimeFunctions[] = {
    {"finfo", native<finfo>},
    {"iinfo", native<iinfo>},
    {"is_floating_point", native<is_floating_point, Entry::access>},
    {"is_tensor", native<is_tensor, Entry::access>},
    {"manual_seed", native<default_manual_seed>},
    {"numel", native<numel, Entry::access>},
};

}  // namespace

std::span<const luaL_Reg> runtime_functions() { return kRuntimeFunctions; }

bool push_number_constant(lua_State* L, std::string_view name) {
  for (const NamedNumber& number : kNumbers) {
    if (number.name != name) continue;
    lua_pushnumber(L, number.value);
    return true;
  }
  return false;
}

std::vector<std::string> number_constant_names() {
  std::vector<std::string> names;
  for (const NamedNumber& number : kNumbers) names.emplace_back(number.name);
  return names;
}

}  // namespace ohm::lua
