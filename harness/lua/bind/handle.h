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
struct Handle : HandleHead {
  T value;
};

/// The class of the full userdata at `index`; nullptr for anything else.
const HandleClass* handle_class(lua_State* L, int index);

/// How handles of a class end, unless the class has its own __gc and __close.
struct HandleEnd {
  lua_CFunction collect;             ///< its __gc
  lua_CFunction close;               ///< its __close
  Interpreter::EndHandle end_early;  ///< before Lua has found it
};

/// Pushes the metatable of `kind`, made at the first use.
void push_metatable(lua_State* L, const HandleClass& kind, const HandleEnd& end);

template <class T>
void end_value(Interpreter& interpreter, HandleHead* head, std::uint64_t age) {
  auto* handle = static_cast<Handle<T>*>(head);
  if (handle->kind->is_listed) interpreter.listed_handles.erase(handle);
  interpreter.defer_release(handle, age, HeldValue(std::exchange(handle->value, T())),
                            [](Interpreter& of, void* memory, HeldValue&& value) {
                              auto* restored = static_cast<Handle<T>*>(memory);
                              restored->value = value.template take<T>();
                              if (restored->kind->is_listed) of.listed_handles.insert(memory);
                            });
}

/// The __gc of a class.
template <class T>
int collect_handle(lua_State* L) {
  auto* handle = static_cast<Handle<T>*>(lua_touserdata(L, 1));
  Interpreter& interpreter = Interpreter::of(L);
  const std::uint64_t age = std::exchange(handle->age, HandleHead::kEnded);
  if (age == HandleHead::kEnded) {
    interpreter.note_found_ended();
  } else {
    end_value<T>(interpreter, handle, age);
  }
  return 0;
}

/// The __close of a class: what it held goes after all that was let go by itself.
template <class T>
int close_handle(lua_State* L) {
  auto* handle = static_cast<Handle<T>*>(lua_touserdata(L, 1));
  end_value<T>(Interpreter::of(L), handle, HandleHead::kYoungest);
  return 0;
}

/// Pushes a new handle that owns `value`, with room for `user_values`.
template <class T>
void push_handle(lua_State* L, T value, int user_values = 0) {
  const HandleClass& kind = HandleOf<T>::kClass;
  push_metatable(L, kind, {&collect_handle<T>, &close_handle<T>, &end_value<T>});
  void* memory = lua_newuserdatauv(L, sizeof(Handle<T>), user_values);
  new (memory) Handle<T>{{&kind, Interpreter::of(L).note_new_handle(L)}, std::move(value)};
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
