#include "harness/lua/libraries/averaging_library.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/lua/bind/arguments.h"
#include "harness/lua/bind/module_fields.h"
#include "harness/lua/bind/module_handle.h"
#include "harness/lua/bind/native.h"
#include "harness/lua/bind/script_module.h"
#include "harness/lua/bind/tensor_handle.h"
#include "harness/lua/libraries/average_functions.h"
#include "harness/lua/vm/interpreter.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/autograd/variable.h"
#include "runtime/nn/deep_copy.h"
#include "runtime/ops/conversion/convert.h"
#include "runtime/ops/pointwise/comparison.h"
#include "runtime/ops/pointwise/inplace_binary.h"

namespace ohm::lua {
namespace {

using nn::ModulePtr;

constexpr std::string_view kUpdateName = "update_parameters";
constexpr std::string_view kUpdatesField = "_updates";

// ---- AveragedModel ------------------------------------------------------------------------------

/// What an update averages: tensors outside any graph, those of the model on the averages' devices.
struct Averaged {
  std::vector<Tensor> averages;
  std::vector<Tensor> currents;
};

std::vector<Tensor> averaged_tensors(const nn::Module& module, bool with_buffers) {
  std::vector<Tensor> tensors;
  for (const nn::NamedTensor& entry : module.named_parameters()) tensors.push_back(entry.tensor);
  if (!with_buffers) return tensors;
  for (const nn::NamedTensor& entry : module.named_buffers()) tensors.push_back(entry.tensor);
  return tensors;
}

Averaged pairs_of(const nn::Module& averaged, const nn::Module& model, bool with_buffers,
                  bool are_copied) {
  const std::vector<Tensor> own = averaged_tensors(averaged, with_buffers);
  const std::vector<Tensor> others = averaged_tensors(model, with_buffers);
  Averaged pairs;
  for (std::size_t i = 0; i < std::min(own.size(), others.size()); ++i) {
    pairs.averages.push_back(detach(own[i]));
    pairs.currents.push_back(ops::to_device(detach(others[i]), own[i].device()));
    if (are_copied) ops::copy_(pairs.averages.back(), pairs.currents.back());
  }
  return pairs;
}

// By device and dtype, in order of appearance.
std::vector<Averaged> grouped(const Averaged& pairs) {
  std::vector<Averaged> groups;
  for (std::size_t i = 0; i < pairs.averages.size(); ++i) {
    const Tensor& average = pairs.averages[i];
    auto group = std::find_if(groups.begin(), groups.end(), [&](const Averaged& known) {
      return known.averages[0].device() == average.device() &&
             known.averages[0].dtype() == average.dtype();
    });
    if (group == groups.end()) group = groups.insert(group, Averaged());
    group->averages.push_back(average);
    group->currents.push_back(pairs.currents[i]);
  }
  // PyTorch's table of devices and dtypes begins with those that came last.
  std::reverse(groups.begin(), groups.end());
  return groups;
}

void push_tensors(lua_State* L, const std::vector<Tensor>& tensors) {
  lua_createtable(L, static_cast<int>(tensors.size()), 0);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    push_tensor(L, tensors[i]);
    lua_rawseti(L, -2, static_cast<lua_Integer>(i) + 1);
  }
}

// Pushes a field of the model: a function, or pops it again.
bool push_field(lua_State* L, nn::Module& module, std::string_view name) {
  if (!push_module_field(L, module, name)) return false;
  if (!lua_isnil(L, -1)) return true;
  lua_pop(L, 1);
  return false;
}

void average_lists(lua_State* L, nn::Module& self, const Averaged& pairs, const Tensor& count) {
  for (const Averaged& group : grouped(pairs)) {
    const Device device = group.averages[0].device();
    if (push_field(L, self, "multi_avg_fn")) {
      push_tensors(L, group.averages);
      push_tensors(L, group.currents);
      push_tensor(L, ops::to_device(count, device));
      lua_call(L, 3, 0);
      Interpreter::of(L).collect(L);
      continue;
    }
    const Tensor there = ops::to_device(count, device);
    if (device.is_cuda()) {
      move_to_means(group.averages, group.currents, there);
      continue;
    }
    for (std::size_t i = 0; i < group.averages.size(); ++i) {
      ops::copy_(group.averages[i], mean_of(group.averages[i], group.currents[i], there));
    }
  }
}

// The function is on top of the stack, and stays there.
void average_each(lua_State* L, const Averaged& pairs, const Tensor& count) {
  Tensor there;
  for (std::size_t i = 0; i < pairs.averages.size(); ++i) {
    there = ops::to_device(count, pairs.averages[i].device());
    lua_pushvalue(L, -1);
    push_tensor(L, pairs.averages[i]);
    push_tensor(L, pairs.currents[i]);
    push_tensor(L, there);
    lua_call(L, 3, 1);
    ops::copy_(pairs.averages[i], tensor_argument(L, -1, {"avg_fn", "result"}));
    lua_pop(L, 1);
    Interpreter::of(L).collect(L);
  }
}

// How often it was updated: the count, and a field where values are not kept.
std::int64_t updates_of(lua_State* L, nn::Module& self, const Tensor& count) {
  if (count.has_values()) return static_cast<std::int64_t>(count.item());
  if (!push_field(L, self, kUpdatesField)) return 0;
  const std::int64_t updates = lua_tointeger(L, -1);
  lua_pop(L, 1);
  return updates;
}

// model:update_parameters(other): the first time copies of its parameters, then averages.
int update_parameters(lua_State* L) {
  const ModulePtr self = module_argument(L, 1, {kUpdateName, "self"});
  const ModulePtr model = module_argument(L, 2, {kUpdateName, "model"});
  const Tensor count = self->own_buffers().at(0).tensor;
  const nn::Module& own = *self->children().at(0).module;
  bool with_buffers = false;
  if (push_field(L, *self, "use_buffers")) {
    with_buffers = lua_toboolean(L, -1) != 0;
    lua_pop(L, 1);
  }
  const std::int64_t updates = updates_of(L, *self, count);
  ops::eq(count, 0.0);  // what PyTorch asks the count, which may be on a GPU
  const Averaged pairs = pairs_of(own, *model, with_buffers, updates == 0);
  ops::gt(count, 0.0);
  if (updates > 0) {
    if (push_field(L, *self, "avg_fn")) {
      average_each(L, pairs, count);
    } else {
      average_lists(L, *self, pairs, count);
    }
  }
  if (!with_buffers) {
    const std::vector<nn::NamedTensor> theirs = model->named_buffers();
    const std::vector<nn::NamedTensor> ours = own.named_buffers();
    for (std::size_t i = 0; i < std::min(ours.size(), theirs.size()); ++i) {
      const Tensor& buffer = ours[i].tensor;
      ops::copy_(detach(buffer), ops::to_device(detach(theirs[i].tensor), buffer.device()));
    }
  }
  ops::add_(count, ops::Number(1));
  lua_pushinteger(L, updates + 1);
  set_module_field(L, *self, kUpdatesField, lua_gettop(L));
  return 0;
}

// model(…): what the averaged module gives.
int call_averaged(lua_State* L) {
  push_module(L, module_argument(L, 1, {"AveragedModel", "self"})->children().at(0).module);
  lua_replace(L, 1);
  lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
  return lua_gettop(L);
}

constexpr luaL_Reg kAveragedMethods[] = {
    {"forward", native<call_averaged>},
    {"update_parameters", native<update_parameters>},
};

std::shared_ptr<ScriptModule> new_averaged_module(lua_State* L) {
  lua_createtable(L, 0, 2);
  for (const luaL_Reg& method : kAveragedMethods) {
    lua_pushcfunction(L, method.func);
    lua_setfield(L, -2, method.name);
  }
  const auto kind =
      std::make_shared<ScriptClass>(ScriptClass{"AveragedModel", std::make_shared<Reference>(L)});
  return std::make_shared<ScriptModule>(Interpreter::of(L), kind);
}

// AveragedModel(model [, device, avg_fn, multi_avg_fn, use_buffers])
int averaged_model(lua_State* L) {
  constexpr std::string_view kName = "AveragedModel";
  constexpr std::string_view kNames[] = {"avg_fn", "device", "multi_avg_fn", "use_buffers"};
  const NamedArguments named(L, kName);
  named.check_names(kNames);
  const ModulePtr model = module_argument(L, 1, {kName, "model"});
  const auto push = [&](int position, std::string_view name) {
    if (named.positional_count() >= position) return lua_pushvalue(L, position);
    if (!named.push(name)) lua_pushnil(L);
  };
  push(2, "device");
  std::optional<Device> device;
  if (!lua_isnil(L, -1)) device = device_argument(L, lua_gettop(L), {kName, "device"});
  const std::shared_ptr<ScriptModule> module = new_averaged_module(L);
  {
    const NoGradGuard no_grad;
    const ModulePtr copy = nn::deep_copy(*model);
    if (device) copy->move_to(*device, std::nullopt);
    module->add_child("module", copy);
  }
  module->add_buffer("n_averaged", zeros({}, {DType::int64, device.value_or(Device::cpu())}));
  int position = 3;
  int functions = 0;
  for (const char* const name : {"avg_fn", "multi_avg_fn", "use_buffers"}) {
    push(position++, name);
    if (lua_isfunction(L, -1)) ++functions;
    if (!lua_isnil(L, -1)) set_module_field(L, *module, name, lua_gettop(L));
    lua_pop(L, 1);
  }
  if (functions > 1) {
    throw std::invalid_argument(
        "[AveragedModel] Only one of avg_fn and multi_avg_fn should be provided");
  }
  push_module(L, module);
  return 1;
}

constexpr luaL_Reg kAveragingFunctions[] = {
    {"AveragedModel", native<averaged_model>},
};

}  // namespace

std::span<const luaL_Reg> averaging_functions() { return kAveragingFunctions; }

}  // namespace ohm::lua
