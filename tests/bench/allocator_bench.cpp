// One allocation and one free on a device that never fills up, statistics and event record on; and
// the same requests through the literal model (ordered sets, as PyTorch has them), statistics on,
// nothing recorded. The last argument of a name is the number of live blocks.
//
// PyTorch 2.6's own allocator, timed on two shared cores with a simulated device, one thread, ns
// for one allocation plus one free: 4 KiB with 1,000 live 142; 1 B to 1 MiB 352; 1 B to 128 MiB
// 394; a replay of 1,000,000 mixed events 190 per event.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <random>
#include <vector>

#include "allocator_shim/caching/caching_allocator.h"
#include "allocator_shim/device/virtual_gpu.h"
#include "allocator_shim/device/virtual_streams.h"
#include "allocator_shim/observe/bytes.h"
#include "allocator_shim/observe/event_record.h"
#include "tests/support/literal_allocator.h"

namespace ohm {
namespace {

constexpr std::size_t kEndless = std::size_t{1} << 47U;

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
  // A million events: far more than the caches hold, as in a long run.
  VirtualGpu gpu_{kEndless, {}};
  VirtualStreams streams_;
  EventRecord events_{1'000'000};
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
  // Until the free blocks are as mixed as they stay.
  for (std::size_t i = 0; i < 4 * live; ++i) exchange();
  for (auto _ : state) exchange();
  state.counters["events/s"] = benchmark::Counter(2.0 * static_cast<double>(state.iterations()),
                                                  benchmark::Counter::kIsRate);
}

/// A training-like mix: three out of four requests small, one in four of 1 to 128 MiB, in steps
/// that hold on to some blocks and free the others in another order.
struct Event {
  std::uint32_t slot;
  std::uint32_t bytes;  ///< 0: free
};

std::vector<Event> mixed_events() {
  constexpr std::size_t kEvents = 1'000'000;
  constexpr std::size_t kMostLive = 2'000;
  std::mt19937_64 random(3);
  std::vector<Event> events;
  std::vector<std::uint32_t> live;
  std::vector<std::uint32_t> unused;
  for (std::uint32_t slot = kMostLive; slot-- > 0;) unused.push_back(slot);
  while (events.size() < kEvents) {
    const bool allocates = !unused.empty() && (live.empty() || random() % 16 < 8);
    if (allocates) {
      const std::size_t bytes = random() % 4 == 0
                                    ? 1_MiB + random() % 127_MiB
                                    : 1 + random() % (std::size_t{1} << (random() % 21));
      live.push_back(unused.back());
      events.push_back({unused.back(), static_cast<std::uint32_t>(bytes)});
      unused.pop_back();
    } else {
      // Mostly what came last, as activations go; sometimes anything.
      const std::size_t back =
          random() % 3 == 0 ? live.size() : std::min<std::size_t>(live.size(), 8);
      const std::size_t index = live.size() - 1 - random() % back;
      events.push_back({live[index], 0});
      unused.push_back(live[index]);
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(index));
    }
  }
  for (const std::uint32_t slot : live) events.push_back({slot, 0});
  return events;
}

template <typename Allocator>
void replay_mixed_events(benchmark::State& state) {
  const std::vector<Event> events = mixed_events();
  std::vector<typename Allocator::Block> blocks(2'000);
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

void live_blocks(benchmark::internal::Benchmark* benchmark) {
  benchmark->RangeMultiplier(10)->Range(1'000, 1'000'000);
}

BENCHMARK_TEMPLATE(exchange_one, Ours, Always4KiB)->Apply(live_blocks);
BENCHMARK_TEMPLATE(exchange_one, Literal, Always4KiB)->Apply(live_blocks);
BENCHMARK_TEMPLATE(exchange_one, Ours, UpTo1MiB)->Apply(live_blocks);
BENCHMARK_TEMPLATE(exchange_one, Literal, UpTo1MiB)->Apply(live_blocks);
BENCHMARK_TEMPLATE(exchange_one, Ours, UpTo128MiB)->Apply(live_blocks);
BENCHMARK_TEMPLATE(exchange_one, Literal, UpTo128MiB)->Apply(live_blocks);
BENCHMARK_TEMPLATE(replay_mixed_events, Ours)->Unit(benchmark::kMillisecond);
BENCHMARK_TEMPLATE(replay_mixed_events, Literal)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ohm
