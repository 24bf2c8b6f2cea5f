#include "runtime/tensor/transforms.h"

namespace ohm {

RunningTransforms& running_transforms() {
  constinit thread_local RunningTransforms running;
  return running;
}

}  // namespace ohm
