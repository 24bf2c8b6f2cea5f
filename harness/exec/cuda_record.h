// The GPU memory of a program without PyTorch, as libohm_cuda.so recorded it
// (allocator_shim/interpose/device_record.h): a file for each process.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/exec/host_record.h"

namespace ohm::engine {

struct CudaEvent {
  enum class Action : std::uint8_t { alloc, free, segment_alloc, segment_free, out_of_memory };

  Action action = Action::alloc;
  std::size_t device = 0;
  std::uint64_t address = 0;  ///< out_of_memory: the bytes that were free
  std::uint64_t bytes = 0;
  std::size_t stack = 0;
  bool is_by_plan = false;
};

/// At the end of the record.
struct CudaBlock {
  std::size_t device = 0;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::size_t stack = 0;  ///< of the request; of a segment it means nothing
};

/// What the program did to memory that it had freed.
struct CudaMisuse {
  enum class Kind : std::uint8_t { freed_again, used_after_free };

  Kind kind = Kind::freed_again;
  std::size_t device = 0;
  std::int64_t bytes = 0;  ///< of the block
  std::size_t stack = 0;
  std::size_t freed_at = 0;      ///< the stack that freed it
  std::size_t requested_at = 0;  ///< the stack that requested it
  std::uint64_t events_before = 0;
  std::int64_t times = 0;
};

struct CudaDevice {
  std::int64_t ooms = 0;
  std::int64_t capacity_bytes = 0;
  std::int64_t allocated_bytes = 0;  ///< at the end
  std::int64_t peak_allocated_bytes = 0;
  std::int64_t peak_reserved_bytes = 0;
  std::int64_t segments = 0;  ///< obtained in all
};

struct CudaRecord {
  int pid = 0;
  std::string program;
  std::vector<std::string> arguments;
  std::string folder;      ///< that the process was in at the end
  bool has_ended = false;  ///< false: it left no figures of its end
  int signal = 0;          ///< that ended it; 0: none
  std::int64_t most_events = 0;
  std::uint64_t dropped = 0;  ///< events that were not kept, the oldest
  std::vector<CudaDevice> devices;
  /// The calls of each: the first is CUDA's function, in the stand-in, the others lead to it.
  std::vector<std::vector<HostFrame>> stacks;
  std::vector<CudaEvent> events;
  std::vector<CudaBlock> blocks;
  std::vector<CudaBlock> segments;
  std::vector<CudaMisuse> misuses;

  bool is_out_of_memory() const {
    for (const CudaDevice& device : devices) {
      if (device.ooms > 0) return true;
    }
    return false;
  }
};

/// Throws std::invalid_argument where the file is none of the library's.
CudaRecord read_cuda_record(const std::string& path);

}  // namespace ohm::engine
