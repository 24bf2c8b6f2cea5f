// ohm replay after loading: a snapshot of a million events, from its entries to the verdict. Aim:
// below 200 ms. The record is that of a program of our own, on one stream: forward and backward
// passes that allocate in order and free in reverse, with blocks of mixed sizes that come and go in
// between.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <random>
#include <stdexcept>
#include <vector>

#include "allocator_shim/base/bytes.h"
#include "allocator_shim/replay/capacity_search.h"
#include "allocator_shim/replay/verified_history.h"
#include "allocator_shim/replay/what_if.h"
#include "tests/support/recorded_allocator.h"

namespace ohm {
namespace {

constexpr std::size_t kEndless = std::size_t{1} << 50U;

std::size_t draw_bytes(std::mt19937_64& random) {
  switch (random() % 4) {
    case 0:
      return 1 + random() % 1_KiB;
    case 1:
      return 1 + random() % 512_KiB;
    case 2:
      return 1 + random() % 8_MiB;
    default:
      return 1_MiB + random() % 40_MiB;
  }
}

/// One step of training, with as many blocks alive at its middle.
void train(test::RecordedAllocator& recorded, std::mt19937_64& random, std::size_t blocks) {
  std::vector<BlockHandle> saved;
  for (std::size_t i = 0; i < blocks; ++i) {
    saved.push_back(recorded.allocate(draw_bytes(random)));
    recorded.free(recorded.allocate(draw_bytes(random)));
  }
  while (!saved.empty()) {
    recorded.free(recorded.allocate(draw_bytes(random)));
    recorded.free(saved.back());
    saved.pop_back();
  }
}

Snapshot recorded_snapshot(std::size_t events) {
  constexpr std::size_t kBlocks = 1'000;
  test::RecordedAllocator recorded(kEndless);
  std::mt19937_64 random(1);
  std::vector<BlockHandle> parameters;
  for (std::size_t i = 0; i < kBlocks; ++i) {
    parameters.push_back(recorded.allocate(draw_bytes(random)));
  }
  train(recorded, random, kBlocks);
  recorded.record();
  // An allocation and its free are three events; each block has two temporaries.
  for (std::size_t done = 0; done < events; done += 9 * kBlocks) train(recorded, random, kBlocks);
  return recorded.snapshot();
}

void replay(benchmark::State& state) {
  const Snapshot snapshot = recorded_snapshot(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) {
    std::vector<DeviceHistory> histories = device_histories(snapshot, default_rule_set());
    const VerifiedHistory verified(std::move(histories.front()), default_rule_set());
    if (verified.disagreement()) throw std::logic_error(verified.disagreement()->summary);
  }
  const double events = static_cast<double>(snapshot.device_traces.front().size());
  state.counters["events"] = events;
  state.counters["events/s"] = benchmark::Counter(events * static_cast<double>(state.iterations()),
                                                  benchmark::Counter::kIsRate);
}

VerifiedHistory recorded_history(std::size_t events) {
  std::vector<DeviceHistory> histories =
      device_histories(recorded_snapshot(events), default_rule_set());
  return {std::move(histories.front()), default_rule_set()};
}

void what_if(benchmark::State& state) {
  const VerifiedHistory verified = recorded_history(static_cast<std::size_t>(state.range(0)));
  WhatIf expandable;
  expandable.settings.expandable_segments = true;
  for (auto _ : state) {
    if (!run_elsewhere(verified, expandable).fits()) throw std::logic_error("does not fit");
  }
}

void smallest_capacity(benchmark::State& state) {
  const VerifiedHistory verified = recorded_history(static_cast<std::size_t>(state.range(0)));
  double runs = 0;
  for (auto _ : state) {
    const CapacitySearch found = find_smallest_capacity(
        [&](std::size_t capacity) {
          WhatIf smaller;
          smaller.capacity_bytes = capacity;
          return run_elsewhere(verified, smaller);
        },
        verified.history().events.size());
    runs = static_cast<double>(found.runs);
  }
  state.counters["runs"] = runs;
}

BENCHMARK(replay)->Arg(10'000)->Arg(100'000)->Arg(1'000'000)->Unit(benchmark::kMillisecond);
BENCHMARK(what_if)->Arg(10'000)->Arg(1'000'000)->Unit(benchmark::kMillisecond);
BENCHMARK(smallest_capacity)->Arg(10'000)->Arg(100'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ohm
