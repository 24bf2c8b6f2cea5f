// Allocation traces: a text file with one operation a line.
//
//     # conf K:V,...      allocator settings
//     # capacity BYTES    of the device
//     # va firstfit       addresses are reused; otherwise never
//     a ID BYTES [STREAM] allocate (stream 0 is the default)
//     f ID                free
//     e                   empty the cache
//     r, R                reset the peaks, the accumulated counters
//     x FRACTION          set the memory fraction
//     u ID STREAM         record_stream
//     g                   every event recorded so far has passed
//     d                   print all counters
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "allocator_shim/device/address_space.h"
#include "allocator_shim/device/stream_events.h"

namespace ohm {

struct TraceOperation {
  enum class Kind : std::uint8_t {
    allocate,
    free,
    empty_cache,
    reset_peak,
    reset_accumulated,
    set_fraction,
    record_stream,
    complete_events,
    print_stats
  };

  Kind kind = Kind::allocate;
  std::size_t line = 0;  ///< 1-based
  std::uint64_t id = 0;  ///< names the allocation; an id may come again once it was freed
  std::size_t bytes = 0;
  StreamId stream = kDefaultStream;
  double fraction = 1;
};

struct Trace {
  std::vector<std::string> headers;  ///< the lines that begin with #, as they stand
  std::string settings;              ///< PYTORCH_CUDA_ALLOC_CONF's spelling
  std::size_t capacity_bytes = 0;
  AddressOrder address_order = AddressOrder::never_reused;
  std::vector<TraceOperation> operations;
};

/// Throws std::invalid_argument that begins with "line N: ".
Trace parse_trace(std::string_view text);

}  // namespace ohm
