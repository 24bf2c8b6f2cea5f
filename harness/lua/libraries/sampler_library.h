// Samplers of ohm.utils.data.
#pragma once

#include <lua.hpp>
#include <memory>
#include <span>

#include "harness/lua/bind/handle.h"
#include "runtime/data/sampler.h"

namespace ohm::lua {

template <>
struct HandleOf<data::SamplerPtr> {
  static const HandleClass kClass;
};
using BatchSamplerPtr = std::shared_ptr<data::BatchSampler>;
template <>
struct HandleOf<BatchSamplerPtr> {
  static const HandleClass kClass;
};

std::span<const luaL_Reg> sampler_functions();

}  // namespace ohm::lua
