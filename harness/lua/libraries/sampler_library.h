// ohm.Generator, ohm.randperm, and the samplers of ohm.utils.data.
#pragma once

#include <lua.hpp>
#include <span>
#include <vector>

#include "harness/lua/bind/handle.h"
#include "runtime/data/sampler.h"

namespace ohm::lua {

template <>
struct HandleOf<data::GeneratorPtr> {
  static const HandleClass kClass;
};
template <>
struct HandleOf<data::SamplerPtr> {
  static const HandleClass kClass;
};
using BatchSamplerPtr = std::shared_ptr<data::BatchSampler>;
template <>
struct HandleOf<BatchSamplerPtr> {
  static const HandleClass kClass;
};

struct ArgumentName;
class NamedArguments;

/// The argument called "generator"; null when there is none.
data::GeneratorPtr generator_argument(lua_State* L, const NamedArguments& named);

/// A list of indices.
data::Indices indices_argument(lua_State* L, int index, const ArgumentName& name);

/// Generator and randperm.
std::span<const luaL_Reg> generator_functions();
std::span<const luaL_Reg> sampler_functions();

}  // namespace ohm::lua
