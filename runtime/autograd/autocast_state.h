// Automatic mixed precision, as far as autograd knows it: what is switched on, and the casts of
// parameters that it remembers. What it does to an op is in ops/autocast.h.
#pragma once

#include <memory>
#include <unordered_map>

#include "runtime/tensor/context.h"
#include "runtime/tensor/tensor.h"

namespace ohm {

struct AutocastSettings {
  bool is_enabled = false;
  bool caches_casts = true;
  DType dtype = DType::float16;
};

/// One level of autocast. The cache is cleared when the outermost level ends.
struct AutocastState : AutocastSettings {
  struct CachedCast {
    Tensor original;
    Tensor cast;
  };

  int depth = 0;
  std::unordered_map<const TensorImpl*, CachedCast> cache;
};

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
