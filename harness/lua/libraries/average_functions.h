// Averages of weights, and the functions of ohm.optim.swa_utils that compute them.
#pragma once

#include <lua.hpp>
#include <span>
#include <vector>

#include "runtime/tensor/tensor.h"

namespace ohm::lua {

/// average + (current − average) / (count + 1), outside any graph.
Tensor mean_of(const Tensor& average, const Tensor& current, const Tensor& count);

/// The same for each of a list, written over the averages. Pre-condition: the lists are equally
/// long.
void move_to_means(const std::vector<Tensor>& averages, const std::vector<Tensor>& currents,
                   const Tensor& count);

/// get_ema_avg_fn() and those like it.
std::span<const luaL_Reg> average_functions();

}  // namespace ohm::lua
