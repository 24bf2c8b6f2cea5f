#include "harness/lua/libraries/number_library.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <numbers>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "harness/lua/bind/arguments.h"
#include "harness/lua/bind/handle.h"
#include "harness/lua/bind/native.h"
#include "harness/lua/bind/tensor_handle.h"
#include "harness/lua/libraries/factory_library.h"
#include "harness/lua/vm/push_text.h"
#include "runtime/autograd/variable.h"
#include "runtime/ops/convert.h"

namespace ohm::lua {
namespace {

// ---- limits of dtypes ---------------------------------------------------------------------------

struct FloatLimits {
  DType dtype;
  double eps;
  double max;
  double tiny;
  double resolution;
};

constexpr std::array<FloatLimits, 4> kFloatLimits = {{
    {DType::float16, 0x1p-10, 65504.0, 0x1p-14, 1e-3},
    {DType::bfloat16, 0x1p-7, 0x1.FEp127, 0x1p-126, 1e-2},
    {DType::float32, 0x1p-23, std::numeric_limits<float>::max(), 0x1p-126, 1e-6},
    {DType::float64, 0x1p-52, std::numeric_limits<double>::max(), 0x1p-1022, 1e-15},
}};

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
  const auto* const limits = std::find_if(kFloatLimits.begin(), kFloatLimits.end(),
                                          [&](const auto& row) { return row.dtype == dtype; });
  if (limits == kFloatLimits.end()) {
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

// ---- questions ----------------------------------------------------------------------------------

int is_floating_input(lua_State* L) {
  const Tensor& tensor = tensor_argument(L, 1, {"is_floating_point", "input"});
  lua_pushboolean(L, is_floating(tensor.dtype()) ? 1 : 0);
  return 1;
}

int count_elements(lua_State* L) {
  lua_pushinteger(L, tensor_argument(L, 1, {"numel", "input"}).numel());
  return 1;
}

int has_same_size(lua_State* L) {
  const Tensor& input = tensor_argument(L, 1, {"is_same_size", "input"});
  const Tensor& other = tensor_argument(L, 2, {"is_same_size", "other"});
  lua_pushboolean(L, input.shape() == other.shape() ? 1 : 0);
  return 1;
}

int count_dims(lua_State* L) {
  lua_pushinteger(L, tensor_argument(L, 1, {"ndimension", "input"}).dims());
  return 1;
}

// ---- tensors ------------------------------------------------------------------------------------

// as_tensor(data [, {dtype, device}]): a tensor that is one already is converted where it has to
// be.
int as_tensor(lua_State* L) {
  if (test_handle<Tensor>(L, 1) == nullptr) {
    const std::span<const luaL_Reg> factories = factory_functions();
    const auto made = std::find_if(factories.begin(), factories.end(), [](const luaL_Reg& known) {
      return std::string_view(known.name) == "tensor";
    });
    lua_pushcfunction(L, made->func);
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, 1);
    return 1;
  }
  constexpr std::string_view kNames[] = {"device", "dtype"};
  const NamedArguments named(L, "as_tensor");
  named.check_names(kNames);
  Tensor tensor = tensor_argument(L, 1, {"as_tensor", "data"});
  tensor = ops::to_device(tensor, named.device("device", tensor.device()));
  tensor = ops::to_dtype(tensor, named.dtype("dtype", tensor.dtype()));
  return push_result(L, tensor, 1);
}

// x:detach_(): the tensor itself leaves the graph that made it.
int detach_in_place(lua_State* L) {
  const Tensor& tensor = tensor_argument(L, 1, {"detach_", "input"});
  if (AutogradMeta* const meta = autograd_meta(tensor)) {
    if (meta->view_of) {
      throw std::invalid_argument("[detach_] Can't detach views in-place. Use detach() instead.");
    }
    meta->requires_grad = false;
    meta->retains_grad = false;
    meta->output_number = 0;
    meta->grad_fn.reset();
  }
  lua_pushvalue(L, 1);
  return 1;
}

constexpr luaL_Reg kNumberFunctions[] = {
    {"as_tensor", native<as_tensor>},
    {"detach_", native<detach_in_place>},
    {"finfo", native<finfo>},
    {"iinfo", native<iinfo>},
    {"is_floating_point", native<is_floating_input, Entry::access>},
    {"is_same_size", native<has_same_size, Entry::access>},
    {"numel", native<count_elements, Entry::access>},
};

constexpr luaL_Reg kTensorNumberMethods[] = {
    {"detach_", native<detach_in_place>},
    {"is_same_size", native<has_same_size, Entry::access>},
    {"ndimension", native<count_dims, Entry::access>},
    {"nelement", native<count_elements, Entry::access>},
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
std::span<const luaL_Reg> tensor_number_methods() { return kTensorNumberMethods; }

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
