// Autograd's part of the state that the context keeps for a rank.
#pragma once

#include <memory>

#include "runtime/autograd/autocast_state.h"
#include "runtime/autograd/gradient_selection.h"
#include "runtime/autograd/saved_tensor_hook.h"
#include "runtime/tensor/autograd_slot.h"
#include "runtime/tensor/context.h"

namespace ohm {

struct AutogradState final : AutogradStateBase {
  /// Of the running backward pass; null: everything.
  GradientSelection* gradient_selection = nullptr;
  /// Nodes of the running backward pass keep what they saved.
  bool retains_graph = false;
  SavedTensorHook* saved_tensor_hook = nullptr;  ///< what nodes save goes through it; not owned
  std::shared_ptr<AutocastState> autocast;       ///< null: autocast was never used

  std::unique_ptr<AutogradStateBase> clone() const override {
    return std::make_unique<AutogradState>(*this);
  }
};

/// nullptr where nothing was kept so far.
inline const AutogradState* find_autograd_state(const ExecutionState& state) {
  return static_cast<const AutogradState*>(state.autograd.get());
}

/// That of the running rank, made where there is none.
AutogradState& autograd_state();

/// Of the running backward pass; nullptr: everything is wanted.
inline GradientSelection* running_selection() {
  const AutogradState* state = find_autograd_state(Context::current().state);
  return state == nullptr ? nullptr : state->gradient_selection;
}

/// The running rank's, nullptr: autocast was never used.
inline AutocastState* find_autocast_state() {
  const AutogradState* state = find_autograd_state(Context::current().state);
  return state == nullptr ? nullptr : state->autocast.get();
}

}  // namespace ohm
