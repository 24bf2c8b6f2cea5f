#include "runtime/tensor/traceback.h"

#include <memory>

namespace ohm {

void hold_variables(OutOfMemory& error, const std::vector<Tensor>& variables) {
  for (const Tensor& variable : variables) {
    if (variable.defined()) error.hold(std::make_shared<const Tensor>(variable));
  }
}

}  // namespace ohm
