// Automatic mixed precision, as far as autograd knows it: what is switched on, and the casts of
// parameters that it remembers. What it does to an op is in ops/autocast.h.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "runtime/tensor/context.h"
#include "runtime/tensor/tensor.h"

namespace ohm {

struct AutocastSettings {
  bool is_enabled = false;
  bool caches_casts = true;
  DType dtype = DType::float16;
};

/// The casts of parameters that autocast remembers, with their originals.
class CastCache {
 public:
  /// The cast of this tensor; not defined when there is none.
  Tensor find(const Tensor& original) const;
  void add(const Tensor& original, const Tensor& cast);
  /// Lets them go in the order in which they were made. (PyTorch's order is that of a hash table of
  /// addresses, which differs from run to run.)
  void clear();
  bool is_empty() const { return entries_.empty(); }

 private:
  struct Entry {
    Tensor original;
    Tensor cast;
  };

  std::vector<Entry> entries_;
  std::unordered_map<const TensorImpl*, std::size_t> places_;
};

/// One level of autocast. The cache is cleared when the outermost level ends.
struct AutocastState : AutocastSettings {
  int depth = 0;
  CastCache cache;
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
