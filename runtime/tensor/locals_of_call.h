// Locals of a function that PyTorch has in Python: they go after the function's arguments, of which
// a temporary lives no longer than the call.
#pragma once

#include <vector>

#include "runtime/tensor/tensor.h"

namespace ohm {

/// While it lives, what outlive_arguments() is given on this thread waits here, for the caller that
/// holds the arguments. They nest.
class LocalsOfCall {
 public:
  LocalsOfCall();
  ~LocalsOfCall();
  LocalsOfCall(const LocalsOfCall&) = delete;
  LocalsOfCall& operator=(const LocalsOfCall&) = delete;

  /// In the order in which they came.
  std::vector<Tensor> take();

 private:
  friend void outlive_arguments(Tensor local);
  std::vector<Tensor> locals_;
  LocalsOfCall* previous_;
};

/// For an op that returns: keeps `local` until the arguments of the running call have gone. Drops
/// it at once where no call waits for that.
void outlive_arguments(Tensor local);

}  // namespace ohm
