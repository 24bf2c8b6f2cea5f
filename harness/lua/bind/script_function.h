// Functions and modules of the script that the runtime calls, now and later.
#pragma once

#include <lua.hpp>
#include <memory>
#include <string_view>
#include <vector>

#include "harness/lua/bind/reference.h"
#include "runtime/tensor/tensor.h"

namespace ohm::lua {

/// Something that can be called, and the arguments that are not tensors. Copies are one function.
class ScriptFunction {
 public:
  /// What is at `index`, to be called with one tensor. Throws std::invalid_argument, naming
  /// `caller`, when it cannot be called.
  ScriptFunction(lua_State* L, int index, std::string_view caller);

  /// It is to be called with the values at `first` to `last`, each tensor replaced by one of the
  /// call's. Returns the tensors there.
  std::vector<Tensor> bind_arguments(lua_State* L, int first, int last);

  /// Calls it and returns the tensors among its results. Lets go of everything that the call has
  /// left to the collector. An error of the script passes through as one; StopRecomputation
  /// stays what it is.
  std::vector<Tensor> operator()(const std::vector<Tensor>& tensors) const;

  /// Pushes the results of the first call, its tensors replaced by these; returns how many there
  /// are. Once only.
  int push_first_results(lua_State* L, const std::vector<Tensor>& tensors) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace ohm::lua
