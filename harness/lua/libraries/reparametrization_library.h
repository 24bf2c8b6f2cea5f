// `ohm.nn.utils` and `ohm.nn.utils.parametrizations`: parameters that are computed of others.
//
//   nn.utils.weight_norm(layer, {dim = 0})       -- layer.weight_g, layer.weight_v
//   nn.utils.parametrizations.spectral_norm(layer)
#pragma once

#include <lua.hpp>
#include <span>

namespace ohm::lua {

std::span<const luaL_Reg> reparametrization_functions();
std::span<const luaL_Reg> parametrization_functions();

}  // namespace ohm::lua
