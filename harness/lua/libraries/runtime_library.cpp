#include "harness/lua/libraries/runtime_library.h"

#include <cstdint>
#include <stdexcept>

#include "harness/lua/bind/arguments.h"
#include "harness/lua/bind/module_handle.h"
#include "harness/lua/bind/native.h"
#include "harness/lua/bind/parameter_handle.h"
#include "harness/lua/bind/tensor_handle.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/nn/deep_copy.h"
#include "runtime/nn/module.h"
#include "runtime/ops/convert.h"
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

// With all of the storage that the tensor may be a part of.
Tensor copy_with_storage(const Tensor& tensor) {
  const auto item = static_cast<std::int64_t>(item_bytes(tensor.dtype()));
  const auto count = static_cast<std::int64_t>(tensor.storage().bytes()) / item;
  const Tensor whole = ops::clone(make_view(tensor, {count}, {1}, 0));
  return make_view(whole, tensor.shape(), tensor.strides(), tensor.impl()->offset);
}

// deepcopy(module or leaf tensor): with tensors of its own, of equal values. A tensor
// takes its gradient along, a parameter does not, as in PyTorch.
int deepcopy(lua_State* L) {
  if (test_handle<nn::ModulePtr>(L, 1) != nullptr) {
    push_module(L, nn::deep_copy(*module_argument(L, 1, {"deepcopy", "x"})));
    return 1;
  }
  const Tensor& tensor = tensor_argument(L, 1, {"deepcopy", "x"});
  if (!tensor.is_leaf()) {
    throw std::invalid_argument(
        "[deepcopy] only tensors created explicitly by the user support the deepcopy protocol");
  }
  const GradModeGuard no_graph(false);
  if (is_parameter(L, 1)) {
    const Tensor copy = ops::clone(tensor);
    copy.set_requires_grad(tensor.requires_grad());
    push_parameter(L, copy);
    return 1;
  }
  const Tensor copy = copy_with_storage(tensor);
  copy.set_requires_grad(tensor.requires_grad());
  if (tensor.grad().defined()) copy.set_grad(copy_with_storage(tensor.grad()));
  push_tensor(L, copy);
  return 1;
}

constexpr luaL_Reg kCopyFunctions[] = {{"deepcopy", native<deepcopy>}};

constexpr luaL_Reg kRuntimeFunctions[] = {
    {"is_tensor", native<is_tensor, Entry::access>},
    {"manual_seed", native<default_manual_seed>},
};

}  // namespace

std::span<const luaL_Reg> copy_functions() { return kCopyFunctions; }

std::span<const luaL_Reg> runtime_functions() { return kRuntimeFunctions; }

}  // namespace ohm::lua
