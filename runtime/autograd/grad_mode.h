// Switches of graph recording: no_grad, enable_grad, inference_mode. Each is a guard.
#pragma once

#include <utility>

#include "runtime/tensor/context.h"

namespace ohm {

/// Whether ops record a graph, while the guard lives.
class GradModeGuard {
 public:
  explicit GradModeGuard(bool enabled)
      : context_(Context::current()),
        previous_(std::exchange(context_.state.grad_enabled, enabled)) {}
  ~GradModeGuard() { context_.state.grad_enabled = previous_; }
  GradModeGuard(const GradModeGuard&) = delete;
  GradModeGuard& operator=(const GradModeGuard&) = delete;

 private:
  Context& context_;
  bool previous_;
};

struct NoGradGuard : GradModeGuard {
  NoGradGuard() : GradModeGuard(false) {}
};

/// As no_grad, and tensors made inside can never require a gradient later.
class InferenceModeGuard {
 public:
  InferenceModeGuard()
      : grad_mode_(false),
        context_(Context::current()),
        previous_(std::exchange(context_.state.inference_mode, true)) {}
  ~InferenceModeGuard() { context_.state.inference_mode = previous_; }
  InferenceModeGuard(const InferenceModeGuard&) = delete;
  InferenceModeGuard& operator=(const InferenceModeGuard&) = delete;

 private:
  GradModeGuard grad_mode_;
  Context& context_;
  bool previous_;
};

}  // namespace ohm
