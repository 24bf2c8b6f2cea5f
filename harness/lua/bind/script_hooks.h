// Hooks of modules: functions of the script that the runtime calls around a forward pass.
#pragma once

#include <cstdint>
#include <lua.hpp>
#include <map>
#include <memory>
#include <vector>

#include "harness/lua/bind/reference.h"
#include "harness/lua/vm/interpreter.h"
#include "runtime/nn/backward_hook.h"
#include "runtime/nn/module.h"

namespace ohm::lua {

/// The hooks that a script put on a module, in order of registration.
class ScriptHooks final : public nn::ForwardHooks {
 public:
  ScriptHooks(lua_State* L, const nn::ModulePtr& module);

  using BackwardHookPtr = std::shared_ptr<nn::BackwardHook>;

  BackwardHookPtr before(nn::Module& module, std::vector<nn::Value>& inputs) override;
  void after(nn::Module& module, const std::vector<nn::Value>& inputs, nn::Value& output,
             const BackwardHookPtr& backward) override;

  /// The same for a script's own call, whose values stay on the stack. Arguments stand from index 2
  /// to the top: before() may replace them; after() may replace the results above `inputs`, the
  /// list that before() made of the arguments and left at the top.
  BackwardHookPtr before_call(lua_State* L);
  void after_call(lua_State* L, int inputs, const BackwardHookPtr& backward);

  enum class When : std::uint8_t { before_forward, after_forward, before_backward, after_backward };
  /// Pops a function; returns its number, for remove().
  int add(lua_State* L, When when);
  void remove(int number);
  std::size_t size() const { return hooks_.size(); }

 private:
  struct Hook {
    When when;
    ReferencePtr function;
  };

  std::vector<Hook> hooks_of(When when) const;
  /// Of a call that begins; null where there are no hooks of backward passes.
  BackwardHookPtr backward_hook() const;
  lua_State* running_state() const;

  Interpreter* interpreter_;
  std::weak_ptr<nn::Module> module_;
  std::map<int, Hook> hooks_;  ///< by their numbers
  int next_number_ = 1;
};

}  // namespace ohm::lua
