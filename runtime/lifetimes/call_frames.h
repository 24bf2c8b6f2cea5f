// Calls in Python's place: for modules and the script host, who make them. What is called knows
// lifetimes.h alone.
#pragma once

#include <memory>
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

/// Where an OutOfMemory goes on as an error of the script's: the new error is to keep this, to
/// which hold_variables() adds from now on, until it is dropped.
std::shared_ptr<const void> variables_of_script_error();

}  // namespace ohm
