// Seeded random programs on the caching allocator, recorded as PyTorch records histories.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "tests/support/recorded_allocator.h"

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

/// Runs step by step.
class RandomRun {
 public:
  RandomRun(const RandomProgram& program, std::uint64_t seed);

  void run(std::size_t steps);
  RecordedAllocator& recorded() { return recorded_; }

 private:
  void step();
  void allocate();
  std::size_t next_bytes();
  std::size_t below(std::size_t bound) { return random_() % bound; }

  RandomProgram program_;
  std::mt19937_64 random_;
  RecordedAllocator recorded_;
  std::vector<BlockHandle> live_;
  std::size_t last_bytes_ = 512;
};

/// A snapshot of a run whose history began at some time and whose ring buffer had some size.
Snapshot random_snapshot(const RandomProgram& program, std::uint64_t seed);

}  // namespace ohm::test
