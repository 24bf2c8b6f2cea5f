// The environment of the forward pass, which a function finds again when backward recomputes it.
#pragma once

#include <utility>
#include <vector>

#include "runtime/autograd/autocast_guard.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/tensor/context.h"
#include "runtime/tensor/tensor.h"

namespace ohm {

class ForwardEnvironment {
 public:
  /// Of a function that is about to run with these inputs.
  ForwardEnvironment(const std::vector<Tensor>& inputs, bool keeps_random_state);

  /// Restored while the scope lives, and a graph is recorded. The surrounding state comes back with
  /// its end.
  class Scope {
   public:
    explicit Scope(const ForwardEnvironment& environment);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    std::vector<std::pair<Device, PhiloxGenerator>> surrounding_;
    GradModeGuard grad_mode_;
    CategoryGuard category_;
    AutocastGuard autocast_;
  };

 private:
  std::vector<std::pair<Device, PhiloxGenerator>> generators_;
  AutocastSettings autocast_;
};

}  // namespace ohm
