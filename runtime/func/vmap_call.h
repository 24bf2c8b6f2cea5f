// torch.func.vmap: a function of one sample, called with all samples at once. One call of it.
//
//   VmapCall call;
//   const Tensor result = function(call.sample(x, 0), weight);
//   return call.all(result, 0);
#pragma once

#include <cstdint>

#include "runtime/tensor/tensor.h"
#include "runtime/tensor/transforms.h"

namespace ohm::func {

/// What a random op may do in the function.
enum class Draws : bool { forbidden, same_for_all };

class VmapCall {
 public:
  /// Of samples that are `count`.
  explicit VmapCall(std::int64_t count, Draws draws = Draws::forbidden)
      : count_(count),
        draws_(running_transforms().random_is_forbidden, draws == Draws::forbidden) {}

  /// What the function gets instead of `samples`, which lie along dimension `dim`.
  /// Throws std::invalid_argument where they want a gradient: differentiate inside of vmap.
  Tensor sample(const Tensor& samples, int dim) const;

  bool is_one_of_many(const Tensor& result) const;
  /// All results, along dimension `dim`: views, of one that is the same for all samples, too.
  Tensor all(const Tensor& result, std::int64_t dim) const;

 private:
  std::int64_t count_;
  RandomScope draws_;
  TransformScope scope_{running_transforms().vmaps};
  int level_ = running_transforms().vmaps;
};

}  // namespace ohm::func
