// Handles: full userdata that own a C++ value for the script.
//
//   template <> struct HandleOf<Tensor> { static const HandleClass kClass; };
//   push_handle(L, tensor);
//   Tensor* tensor = test_handle<Tensor>(L, 1);
//
// Every full userdata of a state is one of these: the class is the first thing in it.
#pragma once

#include <lua.hpp>
#include <new>
#include <utility>

#include "harness/lua/vm/interpreter.h"

namespace ohm::lua {

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

/// The __gc and __close of a class.
template <class T>
int end_handle(lua_State* L) {
  Interpreter& interpreter = Interpreter::of(L);
  auto* handle = static_cast<Handle<T>*>(lua_touserdata(L, 1));
  if (handle->kind->is_listed) interpreter.listed_handles.erase(handle);
  interpreter.defer_release(handle, HeldValue(std::exchange(handle->value, T())),
                            [](Interpreter& of, void* memory, HeldValue&& value) {
                              auto* restored = static_cast<Handle<T>*>(memory);
                              restored->value = value.template take<T>();
                              if (restored->kind->is_listed) of.listed_handles.insert(memory);
                            });
  return 0;
}

/// Pushes a new handle that owns `value`, with room for `user_values`.
template <class T>
void push_handle(lua_State* L, T value, int user_values = 0) {
  const HandleClass& kind = HandleOf<T>::kClass;
  push_metatable(L, kind, &end_handle<T>);
  void* memory = lua_newuserdatauv(L, sizeof(Handle<T>), user_values);
  new (memory) Handle<T>{&kind, std::move(value)};
  if (kind.is_listed) Interpreter::of(L).listed_handles.insert(memory);
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
