// Seeded random programs: the caching allocator and the literal model of its rules must agree on
// every address, every counter and every block after every step.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "allocator_shim/base/bytes.h"
#include "allocator_shim/caching/caching_allocator.h"
#include "allocator_shim/device/virtual_gpu.h"
#include "allocator_shim/device/virtual_streams.h"
#include "tests/support/literal_allocator.h"

namespace ohm {
namespace {

struct Program {
  std::string settings;
  std::size_t capacity_bytes;
  StreamId streams;
  bool sets_fractions;
};

const std::vector<Program> kPrograms = {
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

/// Sizes as programs ask for them: mostly small, often the same again, sometimes at an edge.
class Sizes {
 public:
  explicit Sizes(std::mt19937_64& random) : random_(random) {}

  std::size_t next() {
    constexpr std::size_t kEdges[] = {0,      1,          512,         513,         1_MiB - 1,
                                      1_MiB,  1_MiB + 1,  2_MiB,       10_MiB - 1,  10_MiB,
                                      19_MiB, 20_MiB - 1, 20_MiB,      21_MiB,      50_MiB,
                                      64_MiB, 64_MiB + 1, 9_MiB + 512, 1023 * 1024, 30_MiB};
    switch (below(6)) {
      case 0:
        return kEdges[below(std::size(kEdges))];
      case 1:
        return below(1_MiB);
      case 2:
        return below(100_MiB);
      case 3:
        return below(12_MiB);
      case 4:
        return last_;
      default:
        return last_ = 1 + below(64_KiB);
    }
  }

 private:
  std::size_t below(std::size_t bound) { return random_() % bound; }

  std::mt19937_64& random_;
  std::size_t last_ = 512;
};

/// Both allocators, each on a device of its own.
class Pair {
 public:
  explicit Pair(const Program& program)
      : real_gpu_(program.capacity_bytes, {}),
        literal_gpu_(program.capacity_bytes, {}),
        real_(real_gpu_, real_streams_, options_of(program)),
        literal_(literal_gpu_, literal_streams_, options_of(program).settings) {}

  void allocate(std::size_t bytes, StreamId stream) {
    AllocationRequest request;
    request.bytes = bytes;
    request.stream = stream;
    const std::optional<DeviceAddress> expected = literal_.allocate(bytes, stream);
    try {
      const Allocation actual = real_.allocate(request);
      ASSERT_TRUE(expected) << "granted at " << actual.address << ", should be out of memory";
      ASSERT_EQ(actual.address, *expected);
      if (actual.block != nullptr) live_.push_back(actual);
    } catch (const OutOfMemory& error) {
      ASSERT_FALSE(expected) << error.what();
    }
  }

  void free(std::size_t index) {
    real_.free(live_[index].block);
    literal_.free(live_[index].address);
    live_[index] = live_.back();
    live_.pop_back();
  }

  void record_stream(std::size_t index, StreamId stream) {
    real_.record_stream(live_[index].block, stream);
    literal_.record_stream(live_[index].address, stream);
  }

  void set_fraction(double fraction) {
    real_.set_memory_fraction(fraction);
    literal_.set_memory_fraction(fraction);
  }

  void empty_cache() {
    real_.empty_cache();
    literal_.empty_cache();
  }

  void reset_stats() {
    real_.reset_peak_stats();
    real_.reset_accumulated_stats();
    literal_.stats().reset_peak();
    literal_.stats().reset_accumulated();
  }

  void complete_events() {
    real_streams_.synchronize_all();
    literal_streams_.synchronize_all();
  }

  std::size_t live() const { return live_.size(); }

  void expect_equal() {
    literal_.stats().max_split_size = real_.stats().max_split_size;
    if (real_.stats() != literal_.stats()) {
      ASSERT_EQ(real_.stats().flatten(), literal_.stats().flatten());
    }
    const std::vector<SegmentView> actual = real_.segments();
    const std::vector<SegmentView> expected = literal_.segments();
    ASSERT_EQ(actual.size(), expected.size());
    for (std::size_t i = 0; i < actual.size(); ++i) {
      ASSERT_TRUE(actual[i] == expected[i]) << "segment " << i;
    }
    real_.check_invariants();
  }

 private:
  static CachingAllocatorOptions options_of(const Program& program) {
    CachingAllocatorOptions options;
    options.rules = find_rule_set("pytorch-2.6");
    options.settings = parse_settings(program.settings, options.rules);
    return options;
  }

  VirtualGpu real_gpu_;
  VirtualGpu literal_gpu_;
  VirtualStreams real_streams_;
  VirtualStreams literal_streams_;
  CachingAllocator real_;
  test::LiteralAllocator literal_;
  std::vector<Allocation> live_;
};

void step(Pair& pair, const Program& program, std::mt19937_64& random, Sizes& sizes) {
  const std::size_t dice = random() % 100;
  const auto stream = static_cast<StreamId>(random() % program.streams);
  // More live blocks make frees more likely, so that the program neither ends nor grows for ever.
  const std::size_t free_share = 30 + std::min<std::size_t>(pair.live() / 4, 35);
  if (dice < free_share && pair.live() > 0) {
    pair.free(random() % pair.live());
  } else if (dice < 92) {
    pair.allocate(sizes.next(), stream);
  } else if (dice < 95 && pair.live() > 0) {
    pair.record_stream(random() % pair.live(), stream);
  } else if (dice < 97) {
    pair.complete_events();
  } else if (dice < 98) {
    pair.reset_stats();
  } else if (dice < 99 && program.sets_fractions) {
    pair.set_fraction(static_cast<double>(50 + random() % 51) / 100);
  } else if (random() % 8 == 0) {
    pair.empty_cache();
  }
}

class LiteralComparison : public testing::TestWithParam<std::size_t> {};

TEST_P(LiteralComparison, AgreesAfterEveryStep) {
  constexpr std::uint64_t kSeeds = 6;
  constexpr int kSteps = 600;
  const Program& program = kPrograms[GetParam()];
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    std::mt19937_64 random(seed);
    Sizes sizes(random);
    Pair pair(program);
    for (int i = 1; i <= kSteps; ++i) {
      SCOPED_TRACE("settings \"" + program.settings + "\", seed " + std::to_string(seed) +
                   ", step " + std::to_string(i));
      step(pair, program, random, sizes);
      if (HasFatalFailure()) return;
      pair.expect_equal();
      if (HasFatalFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EveryProgram, LiteralComparison,
                         testing::Range(std::size_t{0}, kPrograms.size()));

}  // namespace
}  // namespace ohm
