// One allocation and one free on a device that never fills up, statistics and event record on; and
// the same requests through the literal model (ordered sets, as PyTorch has them), statistics on,
// nothing recorded. The last argument of a name is the number of live blocks.
//
// PyTorch 2.6's own allocator, timed on two shared cores with a simulated device, one thread, ns
// for one allocation plus one free: 4 KiB with 1,000 live 142; 1 B to 1 MiB 352; 1 B to 128 MiB
// 394; a replay of 1,000,000 mixed events 190 per event.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "allocator_shim/base/bytes.h"
#include "allocator_shim/caching/caching_allocator.h"
#include "allocator_shim/caching/trace_file.h"
#include "allocator_shim/device/virtual_gpu.h"
#include "allocator_shim/device/virtual_streams.h"
#include "allocator_shim/observe/event_record.h"
#include "tests/support/checkout_paths.h"
#include "tests/support/literal_allocator.h"

namespace ohm {
namespace {

constexpr std::size_t kEndless = std::size_t{1} << 50U;
constexpr std::size_t kRecordedEvents = 1'000'000;

class Ours {
 public:
  using Block = BlockHandle;
  Block allocate(std::size_t bytes) {
    AllocationRequest request;
    request.bytes = bytes;
    return allocator_.allocate(request).block;
  }
  void free(Block block) { allocator_.free(block); }

 private:
  // Far more events than the caches hold, as in a long run.
  VirtualGpu gpu_{kEndless, {}};
  VirtualStreams streams_;
  EventRecord events_{kRecordedEvents};
  CachingAllocator allocator_{gpu_, streams_, {}, &events_};
};

class Literal {
 public:
  using Block = DeviceAddress;
  Block allocate(std::size_t bytes) { return *allocator_.allocate(bytes, kDefaultStream); }
  void free(Block block) { allocator_.free(block); }

 private:
  VirtualGpu gpu_{kEndless, {}};
  VirtualStreams streams_;
  test::LiteralAllocator allocator_{gpu_, streams_, {}};
};

// What the requests ask for.
struct Always4KiB {
  static std::size_t draw(std::mt19937_64&) { return 4_KiB; }
};
struct UpTo1MiB {
  static std::size_t draw(std::mt19937_64& random) { return 1 + random() % 1_MiB; }
};
struct UpTo128MiB {
  static std::size_t draw(std::mt19937_64& random) { return 1 + random() % 128_MiB; }
};

/// Which live block goes, and how large the one is that comes; drawn before the clock starts.
struct Exchange {
  std::uint32_t index;
  std::uint32_t bytes;
};

template <typename Sizes>
std::vector<Exchange> exchanges_of(std::size_t live) {
  constexpr std::size_t kExchanges = std::size_t{1} << 18U;
  std::mt19937_64 random(1);
  std::vector<Exchange> exchanges(kExchanges);
  for (Exchange& exchange : exchanges) {
    exchange.index = static_cast<std::uint32_t>(random() % live);
    exchange.bytes = static_cast<std::uint32_t>(Sizes::draw(random));
  }
  return exchanges;
}

template <typename Allocator, typename Sizes>
void exchange_one(benchmark::State& state) {
  const auto live = static_cast<std::size_t>(state.range(0));
  const std::vector<Exchange> exchanges = exchanges_of<Sizes>(live);
  Allocator allocator;
  std::mt19937_64 random(2);
  std::vector<typename Allocator::Block> blocks(live);
  for (auto& block : blocks) block = allocator.allocate(Sizes::draw(random));
  std::size_t next = 0;
  const auto exchange = [&] {
    const Exchange& one = exchanges[next++ % exchanges.size()];
    allocator.free(blocks[one.index]);
    blocks[one.index] = allocator.allocate(one.bytes);
  };
  // Until the free blocks are as mixed as they stay, and every page of the record was touched.
  for (std::size_t i = 0; i < std::max(2 * live, kRecordedEvents / 3); ++i) exchange();
  for (auto _ : state) exchange();
  state.counters["events/s"] = benchmark::Counter(2.0 * static_cast<double>(state.iterations()),
                                                  benchmark::Counter::kIsRate);
}

struct Event {
  std::uint32_t slot;
  std::size_t bytes;  ///< 0: free
};

/// The requests of all recorded traces that fit one stream and an endless device, one trace after
/// the other, again and again up to a million; what a trace leaves is freed at its end.
std::vector<Event> recorded_events() {
  constexpr std::size_t kEvents = 1'000'000;
  std::vector<Event> once;
  std::set<std::filesystem::path> paths;  // in order: a folder lists its files in any
  for (const auto& entry : std::filesystem::directory_iterator(OHM_RECORDINGS_DIR "/allocator")) {
    if (entry.path().extension() == ".trace") paths.insert(entry.path());
  }
  for (const std::filesystem::path& path : paths) {
    std::ifstream file(path);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    std::set<std::uint32_t> live;
    for (const TraceOperation& operation : parse_trace(text).operations) {
      const auto slot = static_cast<std::uint32_t>(operation.id);
      if (operation.kind == TraceOperation::Kind::allocate && operation.bytes > 0) {
        once.push_back({slot, operation.bytes});
        live.insert(slot);
      } else if (operation.kind == TraceOperation::Kind::free && live.erase(slot) > 0) {
        once.push_back({slot, 0});
      }
    }
    for (const std::uint32_t slot : live) once.push_back({slot, 0});
  }
  std::vector<Event> events;
  while (events.size() < kEvents) events.insert(events.end(), once.begin(), once.end());
  return events;
}

template <typename Allocator>
void replay_recorded_events(benchmark::State& state) {
  const std::vector<Event> events = recorded_events();
  std::vector<typename Allocator::Block> blocks(10'000);
  Allocator allocator;
  for (auto _ : state) {
    for (const Event& event : events) {
      if (event.bytes == 0) {
        allocator.free(blocks[event.slot]);
      } else {
        blocks[event.slot] = allocator.allocate(event.bytes);
      }
    }
  }
  const double per_second =
      static_cast<double>(state.iterations()) * static_cast<double>(events.size());
  state.counters["events/s"] = benchmark::Counter(per_second, benchmark::Counter::kIsRate);
  state.counters["ns/event"] = benchmark::Counter(
      per_second * 1e-9, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

/// A fixed number of iterations: filling up with a million blocks again and again, to find out how
/// many fit into the time asked for, takes minutes.
void up_to_a_million_live(benchmark::internal::Benchmark* benchmark) {
  benchmark->RangeMultiplier(10)->Range(1'000, 1'000'000)->Iterations(1'000'000);
}
/// The model is too slow for a million.
void up_to_100_thousand_live(benchmark::internal::Benchmark* benchmark) {
  benchmark->RangeMultiplier(10)->Range(1'000, 100'000)->Iterations(200'000);
}

BENCHMARK_TEMPLATE(exchange_one, Ours, Always4KiB)->Apply(up_to_a_million_live);
BENCHMARK_TEMPLATE(exchange_one, Literal, Always4KiB)->Apply(up_to_100_thousand_live);
BENCHMARK_TEMPLATE(exchange_one, Ours, UpTo1MiB)->Apply(up_to_a_million_live);
BENCHMARK_TEMPLATE(exchange_one, Literal, UpTo1MiB)->Apply(up_to_100_thousand_live);
BENCHMARK_TEMPLATE(exchange_one, Ours, UpTo128MiB)->Apply(up_to_a_million_live);
BENCHMARK_TEMPLATE(exchange_one, Literal, UpTo128MiB)->Apply(up_to_100_thousand_live);
BENCHMARK_TEMPLATE(replay_recorded_events, Ours)->Unit(benchmark::kMillisecond);
BENCHMARK_TEMPLATE(replay_recorded_events, Literal)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ohm
