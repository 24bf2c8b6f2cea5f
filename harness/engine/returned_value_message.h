// What variants return, in the messages of every kind of worker.
#pragma once

#include "harness/engine/message_archive.h"
#include "harness/engine/returned_value.h"

namespace ohm::engine {

template <class Archive, Is<ReturnedValue> T>
void fields(Archive& archive, T& value) {
  archive(value.dtype, value.shape, value.values, value.has_values, value.text);
}

}  // namespace ohm::engine
