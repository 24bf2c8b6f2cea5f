// The state of automatic mixed precision: what is switched on, and the casts of parameters that it
// remembers. What it does to an op is in ops/op_front.h.
#pragma once

#include <unordered_map>
#include <vector>

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

}  // namespace ohm
