#include "tests/support/random_program.h"

#include <algorithm>
#include <iterator>

#include "allocator_shim/base/bytes.h"

namespace ohm::test {
const std::vector<RandomProgram>& random_programs() {
  static const std::vector<RandomProgram> kPrograms = {
      {"", 64_GiB, 1, false},
      {"", 600_MiB, 1, false},
      {"", 300_MiB, 4, true},
      {"max_split_size_mb:21", 900_MiB, 1, false},
      {"max_split_size_mb:64", 700_MiB, 3, true},
      {"max_split_size_mb:40,max_non_split_rounding_mb:100", 900_MiB, 2, false},
      {"garbage_collection_threshold:0.5", 800_MiB, 2, true},
      {"garbage_collection_threshold:0.8,max_split_size_mb:30", 900_MiB, 1, true},
      {"roundup_power2_divisions:4", 2_GiB, 1, false},
      {"roundup_power2_divisions:[1:8,4:2,32:0,>:4]", 900_MiB, 2, true},
      {"expandable_segments:True", 64_GiB, 2, false},
      {"expandable_segments:True", 400_MiB, 3, true},
      {"expandable_segments:True,max_split_size_mb:50,garbage_collection_threshold:0.6", 500_MiB, 2,
       true},
  };
  return kPrograms;
}

RandomRun::RandomRun(const RandomProgram& program, std::uint64_t seed)
    : program_(program), random_(seed), recorded_(program.capacity_bytes, program.settings) {}

void RandomRun::run(std::size_t steps) {
  for (std::size_t i = 0; i < steps; ++i) step();
}

/// Sizes as programs ask for them: mostly small, often the same again, sometimes at an edge.
std::size_t RandomRun::next_bytes() {
  constexpr std::size_t kEdges[] = {1,      512,    513,        1_MiB - 1,  1_MiB,  1_MiB + 1,
                                    2_MiB,  10_MiB, 10_MiB - 1, 19_MiB,     20_MiB, 20_MiB - 1,
                                    21_MiB, 50_MiB, 64_MiB + 1, 9_MiB + 512};
  switch (below(6)) {
    case 0:
      return kEdges[below(std::size(kEdges))];
    case 1:
      return 1 + below(1_MiB);
    case 2:
      return 1 + below(100_MiB);
    case 3:
      return 1 + below(12_MiB);
    case 4:
      return last_bytes_;
    default:
      return last_bytes_ = 1 + below(64_KiB);
  }
}

void RandomRun::allocate() {
  const std::size_t bytes = next_bytes();
  const auto stream = static_cast<StreamId>(below(program_.streams));
  try {
    live_.push_back(recorded_.allocate(bytes, stream));
  } catch (const OutOfMemory&) {
    // As a program that catches it and goes on.
  }
}

void RandomRun::step() {
  const std::size_t dice = below(100);
  const std::size_t free_share = 30 + std::min<std::size_t>(live_.size() / 4, 35);
  if (dice < free_share && !live_.empty()) {
    BlockHandle& block = live_[below(live_.size())];
    recorded_.allocator().free(block);
    block = live_.back();
    live_.pop_back();
  } else if (dice < 92) {
    allocate();
  } else if (dice < 95 && !live_.empty()) {
    recorded_.allocator().record_stream(live_[below(live_.size())],
                                        static_cast<StreamId>(below(program_.streams)));
  } else if (dice < 97) {
    recorded_.streams().synchronize_all();
  } else if (dice < 98 && program_.sets_fractions) {
    recorded_.allocator().set_memory_fraction(static_cast<double>(50 + below(51)) / 100);
  } else if (below(8) == 0) {
    recorded_.allocator().empty_cache();
  }
}

Snapshot random_snapshot(const RandomProgram& program, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  RandomRun run(program, seed);
  run.run(random() % 400);
  const std::size_t bound = random() % 2 == 0 ? 200 : 2000;
  run.recorded().record(1 + random() % bound);
  run.run(100 + random() % 400);
  return run.recorded().snapshot();
}

}  // namespace ohm::test
