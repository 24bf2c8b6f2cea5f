#include "harness/lua/libraries/average_functions.h"

#include <fmt/format.h>

#include <stdexcept>
#include <string_view>

#include "harness/lua/bind/arguments.h"
#include "harness/lua/bind/native.h"
#include "harness/lua/bind/tensor_handle.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/ops/conversion/convert.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/pointwise/lerp.h"

namespace ohm::lua {

Tensor mean_of(const Tensor& average, const Tensor& current, const Tensor& count) {
  const NoGradGuard no_grad;
  Tensor step;
  {
    Tensor distance = ops::sub(current, average);
    const Tensor models = ops::add(count, ops::Number(1));
    step = ops::div(distance, models);
    distance = Tensor();
  }
  return ops::add(average, step);
}

void move_to_means(const std::vector<Tensor>& averages, const std::vector<Tensor>& currents,
                   const Tensor& count) {
  const NoGradGuard no_grad;
  Tensor weight;
  {
    const Tensor models = ops::add(count, ops::Number(1));
    const Tensor share = ops::to_dtype(models, DType::float32);  // its reciprocal is taken below
    weight = ops::mul(share, 1.0);
  }
  const double by = weight.has_values() ? 1.0 / weight.item() : 0.0;
  for (std::size_t i = 0; i < averages.size(); ++i) {
    ops::lerp_by_number_(averages[i], currents[i], by);
  }
}

namespace {

// decay · average + (1 − decay) · current
Tensor ema_of(const Tensor& average, const Tensor& current, double decay) {
  const NoGradGuard no_grad;
  Tensor kept = ops::mul(average, decay);
  Tensor added = ops::mul(current, 1.0 - decay);
  Tensor sum = ops::add(kept, added);
  kept = Tensor();
  added = Tensor();
  return sum;
}

constexpr ArgumentName kAverageArgument{"avg_fn", "averaged_param"};
constexpr ArgumentName kCurrentArgument{"avg_fn", "current_param"};
constexpr ArgumentName kCount{"avg_fn", "num_averaged"};

// Upvalue: the decay.
int ema_update(lua_State* L) {
  const double decay = lua_tonumber(L, lua_upvalueindex(1));
  push_tensor(L, ema_of(tensor_argument(L, 1, kAverageArgument),
                        tensor_argument(L, 2, kCurrentArgument), decay));
  return 1;
}

int swa_update(lua_State* L) {
  push_tensor(L, mean_of(tensor_argument(L, 1, kAverageArgument),
                         tensor_argument(L, 2, kCurrentArgument), tensor_argument(L, 3, kCount)));
  return 1;
}

std::vector<Tensor> tensors_argument(lua_State* L, int index, const ArgumentName& name) {
  if (lua_type(L, index) != LUA_TTABLE) refuse_argument(L, index, name, "a list of tensors");
  std::vector<Tensor> tensors;
  const lua_Integer count = list_length(L, index, name);
  for (lua_Integer i = 1; i <= count; ++i) {
    lua_rawgeti(L, index, i);
    tensors.push_back(tensor_argument(L, -1, name));
    lua_pop(L, 1);
  }
  return tensors;
}

/// The two lists that a function of lists is called with.
struct TwoLists {
  explicit TwoLists(lua_State* L)
      : averages(tensors_argument(L, 1, kAverageArgument)),
        currents(tensors_argument(L, 2, kCurrentArgument)) {
    if (averages.size() == currents.size()) return;
    throw std::invalid_argument(fmt::format("[multi_avg_fn] {} averages of {} parameters",
                                            averages.size(), currents.size()));
  }
  std::vector<Tensor> averages;
  std::vector<Tensor> currents;
};

// Upvalue: the decay.
int ema_multi_update(lua_State* L) {
  const NoGradGuard no_grad;
  const double decay = lua_tonumber(L, lua_upvalueindex(1));
  const TwoLists lists(L);
  for (std::size_t i = 0; i < lists.averages.size(); ++i) {
    const Tensor& average = lists.averages[i];
    if (is_floating(average.dtype())) {
      ops::lerp_by_number_(average, lists.currents[i], 1.0 - decay);
    } else {  // a counter among the buffers
      ops::copy_(average, ema_of(average, lists.currents[i], decay));
    }
  }
  return 0;
}

int swa_multi_update(lua_State* L) {
  const TwoLists lists(L);
  move_to_means(lists.averages, lists.currents, tensor_argument(L, 3, kCount));
  return 0;
}

void push_decay(lua_State* L, std::string_view function) {
  constexpr std::string_view kNames[] = {"decay"};
  const NamedArguments named(L, function);
  named.check_names(kNames);
  constexpr double kDecay = 0.999;
  const double decay = named.positional_count() > 0 ? number_argument(L, 1, {function, "decay"})
                                                    : named.number("decay", kDecay);
  if (!(decay >= 0.0 && decay <= 1.0)) {
    throw std::invalid_argument(
        fmt::format("[{}] Invalid decay value {} provided. Please provide a value in [0,1] range.",
                    function, decay));
  }
  lua_pushnumber(L, decay);
}

int get_ema_avg_fn(lua_State* L) {
  push_decay(L, "get_ema_avg_fn");
  lua_pushcclosure(L, native<ema_update>, 1);
  return 1;
}

int get_ema_multi_avg_fn(lua_State* L) {
  push_decay(L, "get_ema_multi_avg_fn");
  lua_pushcclosure(L, native<ema_multi_update>, 1);
  return 1;
}

int get_swa_avg_fn(lua_State* L) {
  lua_pushcfunction(L, native<swa_update>);
  return 1;
}

int get_swa_multi_avg_fn(lua_State* L) {
  lua_pushcfunction(L, native<swa_multi_update>);
  return 1;
}

constexpr luaL_Reg kAverageFunctions[] = {
    {"get_ema_avg_fn", native<get_ema_avg_fn>},
    {"get_ema_multi_avg_fn", native<get_ema_multi_avg_fn>},
    {"get_swa_avg_fn", native<get_swa_avg_fn>},
    {"get_swa_multi_avg_fn", native<get_swa_multi_avg_fn>},
};

}  // namespace

std::span<const luaL_Reg> average_functions() { return kAverageFunctions; }

}  // namespace ohm::lua
