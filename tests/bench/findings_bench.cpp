// What it takes to find out what a record shows, for steps and lines of a loop: the sizes are four
// times as many each, and the last row of each says how the times grow.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>
#include <vector>

#include "allocator_shim/observe/stack_table.h"
#include "reports/history/diagnosis.h"
#include "reports/history/repeated_passes.h"

namespace ohm {
namespace {

constexpr std::uint64_t kBytes = 1 << 20;
constexpr std::uint32_t kOps = 40;

/// A loop each of whose steps lets go of the last one's results as it makes its own.
struct KeptResults {
  explicit KeptResults(std::uint32_t steps) {
    // Each op asks for its memory, and lets go of what it made in the step before.
    const std::uint32_t events_of_step = 2 * kOps;
    history.events = steps * events_of_step + 1;
    DeviceMemoryHistory lane;
    for (std::uint32_t step = 0; step < steps; ++step) {
      for (std::uint32_t op = 0; op < kOps; ++op) {
        const std::uint32_t begin = 1 + step * events_of_step + op;
        const std::uint32_t end = begin + events_of_step + kOps;
        lane.blocks.push_back(
            {begin, std::min(end, history.events), op * kBytes, kBytes, op, Category::activation});
      }
      history.steps.push_back((step + 1) * events_of_step);
    }
    for (std::uint32_t op = 0; op < kOps; ++op) {
      history.sites.push_back({"train.py", static_cast<int>(op), "op" + std::to_string(op), "", 0});
    }
    history.devices.push_back(std::move(lane));
    DeviceResult device;
    device.device = "cuda:0";
    device.peak_allocated_bytes = static_cast<std::int64_t>(2 * kOps * kBytes);
    devices.push_back(std::move(device));
  }

  MemoryHistory history;
  std::vector<DeviceResult> devices;
};

void kept_graph(benchmark::State& state) {
  const KeptResults record(static_cast<std::uint32_t>(state.range(0)));
  for (auto _ : state) {
    const std::vector<FindingResult> findings = reports::diagnose(record.history, record.devices);
    if (findings.size() != 1) state.SkipWithError("the kept graph is not found");
  }
  state.SetComplexityN(state.range(0));
}
BENCHMARK(kept_graph)
    ->RangeMultiplier(4)
    ->Range(500, 32000)
    ->Unit(benchmark::kMillisecond)
    ->Complexity();

/// A script without marks, whose loop has so many lines, and each asks for memory in every pass.
struct Loop {
  explicit Loop(int lines, std::size_t passes) {
    const TextId file = tables.intern("train.py");
    const TextId script = tables.intern("<module>");
    const FrameId optimizer =
        tables.intern(StackFrame{tables.intern("torch/optim/sgd.py"), tables.intern("step"), 1});
    std::vector<StackId> stacks;
    for (int line = 1; line <= lines; ++line) {
      std::vector<FrameId> frames = {tables.intern(StackFrame{file, script, line})};
      if (line == lines) frames.insert(frames.begin(), optimizer);
      stacks.push_back(tables.intern(std::span<const FrameId>(frames)));
    }
    for (std::size_t pass = 0; pass < passes; ++pass) {
      for (const StackId stack : stacks) {
        requests.push_back({static_cast<std::uint32_t>(requests.size() + 1), stack});
      }
    }
  }

  StackTable tables;
  std::vector<reports::RecordedRequest> requests;
};

void passes_of_lines(benchmark::State& state) {
  constexpr std::size_t kPasses = 100;
  const Loop loop(static_cast<int>(state.range(0)), kPasses);
  const auto last = static_cast<std::uint32_t>(loop.requests.size());
  for (auto _ : state) {
    if (reports::repeated_passes(loop.tables, loop.requests, last).size() != kPasses) {
      state.SkipWithError("the loop is not found");
    }
  }
  state.SetComplexityN(state.range(0));
}
BENCHMARK(passes_of_lines)
    ->RangeMultiplier(4)
    ->Range(16, 4096)
    ->Unit(benchmark::kMillisecond)
    ->Complexity();

}  // namespace
}  // namespace ohm
