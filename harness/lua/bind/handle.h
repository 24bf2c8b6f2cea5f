// Handles: full userdata that own a C++ value for the script.
//
//   template <> struct HandleOf<Tensor> { static const HandleClass kClass; };
//   push_handle(L, tensor);
//   Tensor* tensor = test_handle<Tensor>(L, 1);
//
// Every full userdata of a state is one of these: the class is the first thing in it.
#pragma once

#include <lua.hpp>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include "harness/lua/vm/interpreter.h"

namespace ohm::lua {

struct HandleClass {
  const char* name;  ///< as messages say it: "tensor"
  std::span<const luaL_Reg> metamethods;
};

template <class T>
struct HandleOf;

template <class T>
struct Handle {
  const HandleClass* kind;
  T value;
};

/// The class of the full userdata at `index`; nullptr for anything else.
const HandleClass* handle_class(lua_State* L, int index);

/// Pushes the metatable of `kind`, made at the first use. `collect` is its __gc and __close, unless
/// the class has its own.
void push_metatable(lua_State* L, const HandleClass& kind, lua_CFunction collect);

/// What a handle leaves behind.
inline Remains remains_of(Tensor&& tensor) { return std::move(tensor); }
template <class T>
Remains remains_of(std::shared_ptr<T>&& object) {
  return std::shared_ptr<const void>(std::move(object));
}

// And back, for a handle that was found too early.
inline void take_back(Tensor& value, Remains&& remains) {
  value = std::move(std::get<Tensor>(remains));
}
template <class T>
void take_back(std::shared_ptr<T>& value, Remains&& remains) {
  auto object = std::get<std::shared_ptr<const void>>(std::move(remains));
  value = std::static_pointer_cast<T>(std::const_pointer_cast<void>(std::move(object)));
}

template <class T>
int bury_handle(lua_State* L) {
  auto* handle = static_cast<Handle<T>*>(lua_touserdata(L, 1));
  Interpreter::of(L).bury(handle, remains_of(std::exchange(handle->value, T())),
                          [](void* memory, Remains&& remains) {
                            take_back(static_cast<Handle<T>*>(memory)->value, std::move(remains));
                          });
  return 0;
}

/// Pushes a new handle that owns `value`, with room for `user_values`.
template <class T>
void push_handle(lua_State* L, T value, int user_values = 0) {
  const HandleClass& kind = HandleOf<T>::kClass;
  push_metatable(L, kind, &bury_handle<T>);
  void* memory = lua_newuserdatauv(L, sizeof(Handle<T>), user_values);
  new (memory) Handle<T>{&kind, std::move(value)};
  lua_insert(L, -2);
  lua_setmetatable(L, -2);
}

/// The value of the handle at `index`; nullptr when something else is there, or a handle that was
/// closed.
template <class T>
T* test_handle(lua_State* L, int index) {
  if (handle_class(L, index) != &HandleOf<T>::kClass) return nullptr;
  return &static_cast<Handle<T>*>(lua_touserdata(L, index))->value;
}

}  // namespace ohm::lua
