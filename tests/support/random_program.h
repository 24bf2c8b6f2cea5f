// Seeded random programs on the caching allocator, recorded as PyTorch records histories.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "allocator_shim/caching/caching_allocator.h"
#include "allocator_shim/device/virtual_gpu.h"
#include "allocator_shim/device/virtual_streams.h"
#include "allocator_shim/observe/event_record.h"
#include "allocator_shim/observe/snapshot.h"

namespace ohm::test {

struct RandomProgram {
  std::string settings;
  std::size_t capacity_bytes = 0;
  StreamId streams = 1;
  bool sets_fractions = false;
};

/// Settings that change what the allocator decides, on devices that are soon full and on one that
/// never is.
const std::vector<RandomProgram>& random_programs();

/// Runs step by step; what is recorded can begin at any time.
class RandomRun {
 public:
  RandomRun(const RandomProgram& program, std::uint64_t seed);
  ~RandomRun();

  void run(std::size_t steps);
  /// Forgets what was recorded so far and keeps at most `max_events` from now on.
  void record(std::size_t max_events);
  /// As torch.cuda.memory._snapshot() would give it, of device 0.
  Snapshot snapshot() const;

 private:
  void step();
  void allocate();
  std::size_t next_bytes();
  std::size_t below(std::size_t bound) { return random_() % bound; }
  /// Keeps the events of one history.
  class Recorder;

  RandomProgram program_;
  std::mt19937_64 random_;
  VirtualGpu gpu_;
  VirtualStreams streams_;
  std::unique_ptr<Recorder> recorder_;
  CachingAllocator allocator_;
  std::vector<BlockHandle> live_;
  std::size_t last_bytes_ = 512;
};

/// A snapshot of a run whose history began at some time and whose ring buffer had some size.
Snapshot random_snapshot(const RandomProgram& program, std::uint64_t seed);

}  // namespace ohm::test
