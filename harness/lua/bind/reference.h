// Values of the script that C++ objects hold.
#pragma once

#include <lua.hpp>
#include <memory>

namespace ohm::lua {

class Interpreter;

/// Keeps a value alive for as long as the reference lives; harmless once the interpreter is gone.
class Reference {
 public:
  /// Pops the value on top of the stack.
  explicit Reference(lua_State* L);
  ~Reference();
  Reference(const Reference&) = delete;
  Reference& operator=(const Reference&) = delete;

  void push(lua_State* L) const { lua_rawgeti(L, LUA_REGISTRYINDEX, number_); }

 private:
  std::weak_ptr<Interpreter* const> owner_;
  int number_;
};

using ReferencePtr = std::shared_ptr<const Reference>;

}  // namespace ohm::lua
