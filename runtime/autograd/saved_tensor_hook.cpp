#include "runtime/autograd/saved_tensor_hook.h"

namespace ohm {

PackedTensor::PackedTensor() = default;
PackedTensor::~PackedTensor() = default;

}  // namespace ohm
