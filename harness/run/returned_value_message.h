// The values that variants return, in the messages of every kind of worker.
#pragma once

#include "harness/process/ipc_serialization.h"
#include "harness/scenario/returned_value.h"

namespace ohm::engine {

template <class Archive, Is<ReturnedValue> T>
void fields(Archive& archive, T& value) {
  archive(value.dtype, value.shape, value.values, value.integers, value.has_values, value.text);
}

}  // namespace ohm::engine
