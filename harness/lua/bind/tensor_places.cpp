#include "harness/lua/bind/tensor_places.h"

#include <cstddef>
#include <deque>

#include "harness/lua/bind/tensor_handle.h"
#include "harness/lua/vm/interpreter.h"

namespace ohm::lua {
namespace {

// What is nested deeper is data of the program's.
constexpr int kMostLevels = 8;

/// Walks over the same values twice: to collect tensors, and to put others in their places.
class TensorPlaces {
 public:
  TensorPlaces(lua_State* L, Tables tables) : state_(L), tables_(tables) {}

  void collect(int index, int level = 0) {
    if (const Tensor* tensor = test_handle<Tensor>(state_, index)) {
      tensors_.push_back(*tensor);
    } else if (is_walked(index, level)) {
      for (lua_pushnil(state_); lua_next(state_, index) != 0; lua_pop(state_, 1)) {
        collect(lua_gettop(state_), level + 1);
      }
    }
  }

  nn::CallEnvelope::Places places() {
    nn::CallEnvelope::Places places;
    for (Tensor& tensor : tensors_) places.push_back(&tensor);
    return places;
  }

  // Leaves what takes the place of the value at `index` on top; false: nothing does.
  bool push_replacement(int index, int level = 0) {
    if (const Tensor* tensor = test_handle<Tensor>(state_, index)) {
      const Tensor& now = tensors_[next_++];
      if (tensor->is_same(now)) return false;
      push_tensor(state_, now);
      return true;
    }
    return is_walked(index, level) && replace_fields(index, level);
  }

 private:
  bool is_walked(int index, int level) {
    if (lua_type(state_, index) != LUA_TTABLE || level >= kMostLevels) return false;
    luaL_checkstack(state_, LUA_MINSTACK, nullptr);
    return true;
  }

  // A copy, which is made at the first field that changes, goes on top.
  bool replace_fields(int table, int level) {
    int copy = tables_ == Tables::written ? table : 0;
    const int base = lua_gettop(state_);
    for (lua_pushnil(state_); lua_next(state_, table) != 0;) {
      const int value = lua_gettop(state_);
      if (push_replacement(value, level + 1)) {
        if (copy == 0) copy = copy_below(table, base);
        lua_pushvalue(state_, -3);
        lua_insert(state_, -2);
        Interpreter::of(state_).lifetimes().before_write(state_, copy, -2);
        lua_rawset(state_, copy);
      }
      lua_pop(state_, 1);
    }
    return copy != 0 && copy != table;
  }

  // A copy of the table, as a new value at base + 1; what lies there moves up.
  int copy_below(int table, int base) {
    lua_newtable(state_);
    for (lua_pushnil(state_); lua_next(state_, table) != 0;) {
      lua_pushvalue(state_, -2);
      lua_insert(state_, -2);
      lua_rawset(state_, -4);
    }
    if (lua_getmetatable(state_, table) != 0) lua_setmetatable(state_, -2);
    lua_insert(state_, base + 1);
    return base + 1;
  }

  lua_State* state_;
  Tables tables_;
  std::deque<Tensor> tensors_;
  std::size_t next_ = 0;
};

}  // namespace

void replace_tensors(lua_State* L, int first, Tables tables,
                     const std::function<void(const nn::CallEnvelope::Places&)>& replace) {
  TensorPlaces places(L, tables);
  const int top = lua_gettop(L);
  for (int index = first; index <= top; ++index) places.collect(index);
  replace(places.places());
  for (int index = first; index <= top; ++index) {
    if (places.push_replacement(index)) lua_replace(L, index);
  }
}

}  // namespace ohm::lua
