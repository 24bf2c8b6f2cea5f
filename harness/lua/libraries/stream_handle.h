// Streams, as scripts hold them.
#pragma once

#include <lua.hpp>
#include <memory>

#include "harness/lua/bind/object_handle.h"
#include "runtime/tensor/context.h"

namespace ohm::lua {

struct Stream {
  Device device;
  StreamId id;
};
using StreamPtr = std::shared_ptr<const Stream>;

template <>
struct HandleOf<StreamPtr> {
  static const HandleClass kClass;
};

/// Throws std::invalid_argument when there is something else.
inline const Stream& stream_argument(lua_State* L, int index, const ArgumentName& name) {
  return object_argument<const Stream>(L, index, name);
}

/// The next stream for the program: PyTorch makes 32 for a GPU and then gives out the first one
/// again.
inline StreamId new_program_stream(Device device) {
  constexpr StreamId kStreamsInPool = 32;
  const StreamId number = Context::current().slot(device).streams_made++;
  return kFirstProgramStream + number % kStreamsInPool;
}

}  // namespace ohm::lua
