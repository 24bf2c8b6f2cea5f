// Autocast switched on and off.
#pragma once

#include <memory>

#include "runtime/autograd/autocast_state.h"

namespace ohm {

/// What is switched on now.
AutocastSettings autocast_settings();

/// Autocast on GPUs while the guard lives; may be nested, also switched off.
class AutocastGuard {
 public:
  /// Throws std::invalid_argument for a dtype that is not half precision.
  AutocastGuard(bool enabled, DType dtype, bool caches_casts = true);
  explicit AutocastGuard(const AutocastSettings& settings);
  ~AutocastGuard();
  AutocastGuard(const AutocastGuard&) = delete;
  AutocastGuard& operator=(const AutocastGuard&) = delete;

 private:
  std::shared_ptr<AutocastState> state_;
  AutocastSettings previous_;
};

}  // namespace ohm
