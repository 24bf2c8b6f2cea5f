#include "harness/lua/bind/tensor_methods.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "harness/lua/bind/arguments.h"
#include "harness/lua/bind/conversion_target.h"
#include "harness/lua/bind/native.h"
#include "harness/lua/bind/op_arguments.h"
#include "harness/lua/bind/tensor_handle.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/engine.h"
#include "runtime/autograd/variable.h"
#include "runtime/lifetimes/lifetimes.h"
#include "runtime/ops/conversion/convert.h"
#include "runtime/ops/pointwise/choice.h"
#include "runtime/ops/pointwise/inplace_binary.h"
#include "runtime/tensor/allocation.h"
#include "runtime/tensor/context.h"
#include "runtime/tensor/cuda_graph.h"

namespace ohm::lua {
namespace {

const Tensor& self_tensor(lua_State* L, std::string_view method) {
  return tensor_argument(L, 1, {method, "input"});
}

int return_tensor(lua_State* L, const Tensor& result) { return push_result(L, result, 1); }

// ---- sizes --------------------------------------------------------------------------------------

int size(lua_State* L) {
  const Tensor& tensor = self_tensor(L, "size");
  if (lua_gettop(L) == 1) {
    push_sizes(L, tensor.shape());
  } else {
    lua_pushinteger(L, tensor.size(integer_argument(L, 2, {"size", "dim"})));
  }
  return 1;
}

int stride(lua_State* L) {
  const Tensor& tensor = self_tensor(L, "stride");
  if (lua_gettop(L) == 1) {
    push_sizes(L, tensor.strides());
  } else {
    const std::int64_t dim = integer_argument(L, 2, {"stride", "dim"});
    lua_pushinteger(L, tensor.strides()[wrap_dim(dim, tensor.dims(), "stride")]);
  }
  return 1;
}

int dim(lua_State* L) {
  lua_pushinteger(L, self_tensor(L, "dim").dims());
  return 1;
}

int numel(lua_State* L) {
  lua_pushinteger(L, self_tensor(L, "numel").numel());
  return 1;
}

int is_same_size(lua_State* L) {
  const Tensor& other = tensor_argument(L, 2, {"is_same_size", "other"});
  lua_pushboolean(L, self_tensor(L, "is_same_size").shape() == other.shape());
  return 1;
}

int storage_offset(lua_State* L) {
  lua_pushinteger(L, self_tensor(L, "storage_offset").impl()->offset);
  return 1;
}

int element_size(lua_State* L) {
  lua_pushinteger(L, static_cast<lua_Integer>(item_bytes(self_tensor(L, "element_size").dtype())));
  return 1;
}

int is_contiguous(lua_State* L) {
  const NamedArguments named(L, "is_contiguous");
  constexpr std::string_view kNames[] = {"memory_format"};
  named.check_names(kNames);
  const Tensor& tensor = self_tensor(L, "is_contiguous");
  MemoryFormat format = MemoryFormat::row_major;
  if (named.push("memory_format")) {
    format = parse_memory_format(string_argument(L, -1, {"is_contiguous", "memory_format"}));
  }
  lua_pushboolean(L, lies_in(tensor, format));
  return 1;
}

int is_floating_point(lua_State* L) {
  lua_pushboolean(L, is_floating(self_tensor(L, "is_floating_point").dtype()));
  return 1;
}

int data_ptr(lua_State* L) {
  const Tensor& tensor = self_tensor(L, "data_ptr");
  const std::size_t offset =
      static_cast<std::size_t>(tensor.impl()->offset) * item_bytes(tensor.dtype());
  const DeviceAddress address = tensor.storage().address() + offset;
  lua_pushinteger(L, static_cast<lua_Integer>(address));
  return 1;
}

int get_device(lua_State* L) {
  lua_pushinteger(L, self_tensor(L, "get_device").device().index);
  return 1;
}

// Python's `is`.
int is_same(lua_State* L) {
  const Tensor& other = tensor_argument(L, 2, {"is_same", "other"});
  lua_pushboolean(L, self_tensor(L, "is_same").is_same(other));
  return 1;
}

// ---- values -------------------------------------------------------------------------------------

void push_number(lua_State* L, std::int64_t value, DType /*dtype*/) { lua_pushinteger(L, value); }

void push_number(lua_State* L, double value, DType dtype) {
  if (dtype == DType::boolean) {
    lua_pushboolean(L, value != 0);
  } else if (is_floating(dtype) || std::isnan(value)) {
    lua_pushnumber(L, value);
  } else {
    lua_pushinteger(L, convert_element<std::int64_t>(value));
  }
}

// The only element of a tensor of int64: doubles do not have all of its bits.
lua_Integer integer_item(const Tensor& tensor) {
  std::int64_t value = 0;
  tensor.storage().peek(&value, tensor.offset_bytes(), sizeof value);
  return value;
}

int item(lua_State* L) {
  const Tensor& tensor = self_tensor(L, "item");
  refuse_in_capture(tensor.device());
  const double value = tensor.item();
  if (tensor.dtype() == DType::int64 && tensor.has_values()) {
    lua_pushinteger(L, integer_item(tensor));
  } else {
    push_number(L, value, tensor.dtype());
  }
  return 1;
}

int is_nonzero(lua_State* L) {
  const Tensor& tensor = tensor_argument(L, 1, {"is_nonzero", "input"});
  if (tensor.numel() != 1) {
    throw std::invalid_argument(
        fmt::format("[is_nonzero] Boolean value of Tensor with {} is ambiguous",
                    tensor.numel() == 0 ? "no values" : "more than one value"));
  }
  refuse_in_capture(tensor.device());
  lua_pushboolean(L, tensor.item() != 0);
  return 1;
}

// The elements from `next` on that dimension `at` and those behind it cover, as nested lists.
template <class Number>
void push_list(lua_State* L, const Tensor& tensor, int at, const Number*& next) {
  if (at == tensor.dims()) return push_number(L, *next++, tensor.dtype());
  luaL_checkstack(L, LUA_MINSTACK, nullptr);
  lua_createtable(L, static_cast<int>(tensor.shape()[at]), 0);
  for (std::int64_t i = 1; i <= tensor.shape()[at]; ++i) {
    push_list(L, tensor, at + 1, next);
    lua_rawseti(L, -2, i);
  }
}

int tolist(lua_State* L) {
  const Tensor& given = self_tensor(L, "tolist");
  const Tensor tensor = ops::to(given, Device::cpu(), std::nullopt);
  constexpr std::int64_t kMostListed = std::int64_t{1} << 27;
  if (tensor.numel() > kMostListed) {
    throw std::invalid_argument(fmt::format(
        "[tolist] {} elements are too many for lists: at most {}", tensor.numel(), kMostListed));
  }
  const auto push = [&](const auto& values) {
    auto* next = values.data();
    push_list(L, tensor, 0, next);
  };
  if (tensor.dtype() == DType::int64 && tensor.has_values()) {
    push(to_integers(tensor));
  } else {
    push(to_doubles(tensor));
  }
  return 1;
}

// ---- autograd -----------------------------------------------------------------------------------

// x:backward([gradient], {gradient =, retain_graph =, create_graph =})
int backward(lua_State* L) {
  const NamedArguments named(L, "backward");
  constexpr std::string_view kNames[] = {"create_graph", "gradient", "retain_graph"};
  named.check_names(kNames);
  const Tensor root = self_tensor(L, "backward");
  const ArgumentName name{"backward", "gradient"};
  Tensor gradient;
  if (named.positional_count() > 1) {
    gradient = tensor_argument(L, 2, name);
  } else if (named.push("gradient")) {
    gradient = tensor_argument(L, -1, name);
  }
  const bool creates_graph = named.boolean("create_graph", false);
  try {
    ohm::backward({root}, {gradient},
                  named.boolean("retain_graph", creates_graph) ? GraphRetention::retain
                                                               : GraphRetention::release,
                  creates_graph ? GradientGraph::record : GradientGraph::none);
  } catch (...) {
    hold_variables({root});  // Tensor.backward's frame, around that of autograd.backward
    throw;
  }
  return 0;
}

int detach(lua_State* L) {
  push_tensor(L, ohm::detach(self_tensor(L, "detach")));
  return 1;
}

// x:detach_(): the tensor itself leaves the graph that made it.
int detach_in_place(lua_State* L) {
  const Tensor& tensor = self_tensor(L, "detach_");
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

int tensor_requires_grad(lua_State* L) {
  const Tensor& tensor = self_tensor(L, "requires_grad_");
  tensor.set_requires_grad(lua_gettop(L) == 1 ||
                           boolean_argument(L, 2, {"requires_grad_", "requires_grad"}));
  lua_pushvalue(L, 1);
  return 1;
}

// ---- dtype and device ---------------------------------------------------------------------------

// What a program moves to a GPU before it computes is input.
int move(lua_State* L, const Tensor& tensor, const ConversionTarget& target) {
  const bool is_input = tensor.is_leaf() && tensor.device().is_cpu();
  const CategoryGuard category(is_input ? Category::input : Context::current().state.category);
  const Tensor moved = ops::to(tensor, target.device, target.dtype, target.transfer, target.format);
  return return_tensor(L, target.copies && moved.is_same(tensor) ? ops::clone(tensor) : moved);
}

int tensor_to(lua_State* L) { return move(L, self_tensor(L, "to"), conversion_arguments(L, "to")); }

// cuda([device,] [{device, non_blocking}])
int tensor_cuda(lua_State* L) {
  const Tensor tensor = self_tensor(L, "cuda");
  ConversionTarget target = conversion_arguments(L, "cuda");
  if (!target.device) target.device = Context::current().state.current_gpu;
  return move(L, tensor, target);
}

int pin_memory(lua_State* L) {
  const CategoryGuard category(Category::input);
  return return_tensor(L, ops::pin_memory(self_tensor(L, "pin_memory")));
}

int is_pinned(lua_State* L) {
  lua_pushboolean(L, ohm::is_pinned(self_tensor(L, "is_pinned").storage()));
  return 1;
}

// The dtype and device of another tensor.
int type_as(lua_State* L) {
  const Tensor& other = tensor_argument(L, 2, {"type_as", "other"});
  return move(L, self_tensor(L, "type_as"), {other.device(), other.dtype()});
}

// type(dtype): as x:to(dtype), where the tensor is
int type(lua_State* L) {
  return move(L, self_tensor(L, "type"), {{}, dtype_argument(L, 2, {"type", "dtype"})});
}

int tensor_cpu(lua_State* L) { return move(L, self_tensor(L, "cpu"), {Device::cpu(), {}}); }

template <DType D>
int tensor_cast_to(lua_State* L) {
  const Tensor tensor = self_tensor(L, name_of(D));
  return return_tensor(L, ops::to_dtype(tensor, D));
}

// ---- choices ------------------------------------------------------------------------------------

// x:where(condition, other): what x is where the condition holds.
int where(lua_State* L) {
  const Tensor input = self_tensor(L, "where");
  const Tensor condition = tensor_argument(L, 2, {"where", "condition"});
  const ops::Value other =
      value_argument(L, 3, ops::ParamKind::tensor_or_number, {"where", "other"});
  return return_tensor(
      L, ops::where_of(condition, input, ops::ParamTraits<ops::TensorOrNumber>::get(other)));
}

// ---- draws in place -----------------------------------------------------------------------------

// The number that stands at `index`, or is named so, or `otherwise`.
double draw_number(lua_State* L, const NamedArguments& named, int index, std::string_view name,
                   double otherwise) {
  if (index > named.positional_count() || lua_isnil(L, index)) return named.number(name, otherwise);
  return number_argument(L, index, {named.function(), name});
}

int normal(lua_State* L) {
  const NamedArguments named(L, "normal_");
  constexpr std::string_view kNames[] = {"mean", "std"};
  named.check_names(kNames);
  const Tensor& tensor = self_tensor(L, "normal_");
  ops::normal_(tensor, draw_number(L, named, 2, "mean", 0.0), draw_number(L, named, 3, "std", 1.0));
  lua_pushvalue(L, 1);
  return 1;
}

int uniform(lua_State* L) {
  const NamedArguments named(L, "uniform_");
  constexpr std::string_view kNames[] = {"from", "to"};
  named.check_names(kNames);
  const Tensor& tensor = self_tensor(L, "uniform_");
  ops::uniform_(tensor, draw_number(L, named, 2, "from", 0.0), draw_number(L, named, 3, "to", 1.0));
  lua_pushvalue(L, 1);
  return 1;
}

constexpr luaL_Reg kTensorMethods[] = {
    {"backward", native<backward>},
    {"bfloat16", native<tensor_cast_to<DType::bfloat16>>},
    {"bool", native<tensor_cast_to<DType::boolean>>},
    {"byte", native<tensor_cast_to<DType::uint8>>},
    {"char", native<tensor_cast_to<DType::int8>>},
    {"cpu", native<tensor_cpu>},
    {"cuda", native<tensor_cuda>},
    {"data_ptr", native<data_ptr, Entry::access>},
    {"detach", native<detach>},
    {"detach_", native<detach_in_place>},
    {"dim", native<dim, Entry::access>},
    {"double", native<tensor_cast_to<DType::float64>>},
    {"element_size", native<element_size, Entry::access>},
    {"float", native<tensor_cast_to<DType::float32>>},
    {"get_device", native<get_device, Entry::access>},
    {"half", native<tensor_cast_to<DType::float16>>},
    {"int", native<tensor_cast_to<DType::int32>>},
    {"is_contiguous", native<is_contiguous, Entry::access>},
    {"is_floating_point", native<is_floating_point, Entry::access>},
    {"is_nonzero", native<is_nonzero>},
    {"is_pinned", native<is_pinned, Entry::access>},
    {"is_same", native<is_same, Entry::access>},
    {"is_same_size", native<is_same_size, Entry::access>},
    {"item", native<item>},
    {"long", native<tensor_cast_to<DType::int64>>},
    {"ndimension", native<dim, Entry::access>},
    {"nelement", native<numel, Entry::access>},
    {"normal_", native<normal>},
    {"numel", native<numel, Entry::access>},
    {"pin_memory", native<pin_memory>},
    {"requires_grad_", native<tensor_requires_grad>},
    {"short", native<tensor_cast_to<DType::int16>>},
    {"size", native<size, Entry::access>},
    {"storage_offset", native<storage_offset, Entry::access>},
    {"stride", native<stride, Entry::access>},
    {"to", native<tensor_to>},
    {"tolist", native<tolist>},
    {"type", native<type>},
    {"type_as", native<type_as>},
    {"uniform_", native<uniform>},
    {"where", native<where>},
};

constexpr luaL_Reg kTensorFunctions[] = {
    {"detach_", native<detach_in_place>},
    {"is_floating_point", native<is_floating_point, Entry::access>},
    {"is_nonzero", native<is_nonzero>},
    {"is_same_size", native<is_same_size, Entry::access>},
    {"numel", native<numel, Entry::access>},
};

}  // namespace

std::span<const luaL_Reg> tensor_methods() { return kTensorMethods; }
std::span<const luaL_Reg> tensor_functions() { return kTensorFunctions; }

}  // namespace ohm::lua
