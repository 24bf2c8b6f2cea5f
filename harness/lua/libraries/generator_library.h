// ohm.Generator and ohm.randperm.
#pragma once

#include <lua.hpp>
#include <span>

#include "harness/lua/bind/arguments.h"
#include "harness/lua/bind/handle.h"
#include "runtime/data/item_order.h"

namespace ohm::lua {

template <>
struct HandleOf<data::GeneratorPtr> {
  static const HandleClass kClass;
};

/// The argument called "generator"; null when there is none.
data::GeneratorPtr generator_argument(lua_State* L, const NamedArguments& named);

std::span<const luaL_Reg> generator_functions();

}  // namespace ohm::lua
