#include "runtime/autograd/autograd_state.h"

namespace ohm {

AutogradState& autograd_state() {
  AutogradSlot& slot = Context::current().state.autograd;
  if (slot.get() == nullptr) slot.put(std::make_unique<AutogradState>());
  return static_cast<AutogradState&>(*slot.get());
}

}  // namespace ohm
