// `ohm.distributions`: torch.distributions.
//
//   local policy = ohm.distributions.Categorical({logits = model(x)})
//   local action = policy:sample()
//   local loss = -(policy:log_prob(action) * advantage):mean() - 0.01 * policy:entropy():mean()
#pragma once

#include <lua.hpp>
#include <span>

namespace ohm::lua {

std::span<const luaL_Reg> distribution_functions();
/// Of `ohm.distributions.Distribution`.
std::span<const luaL_Reg> distribution_class_functions();

}  // namespace ohm::lua
