// Handles of shared objects, as arguments: optimizers, generators, …
#pragma once

#include <lua.hpp>
#include <memory>
#include <string>

#include "harness/lua/bind/arguments.h"
#include "harness/lua/bind/handle.h"

namespace ohm::lua {

/// The object at `index`; throws std::invalid_argument when there is something else.
template <class T>
T& object_argument(lua_State* L, int index, const ArgumentName& name) {
  const auto* object = test_handle<std::shared_ptr<T>>(L, index);
  if (object == nullptr || !*object) {
    refuse_argument(L, index, name,
                    std::string("of type ") + HandleOf<std::shared_ptr<T>>::kClass.name);
  }
  return **object;
}

/// The same; null when there is something else, or a handle that was closed.
template <class T>
const std::shared_ptr<T>* test_object(lua_State* L, int index) {
  const auto* object = test_handle<std::shared_ptr<T>>(L, index);
  return object != nullptr && *object ? object : nullptr;
}

}  // namespace ohm::lua
