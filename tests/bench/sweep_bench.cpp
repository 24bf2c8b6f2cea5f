// Faults per second: a body in one process, through C++ and through a script; every request of a
// training step as `ohm sweep` fails it, by the number of requests.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "harness/lua/scenario_loader.h"
#include "harness/process/host_heap.h"
#include "harness/process/worker_pool.h"
#include "harness/run/variant_process.h"
#include "harness/sweep/body_sweep.h"
#include "harness/sweep/fault_trials.h"
#include "harness/sweep/sweep_messages.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/tensor/context.h"

namespace ohm::engine {
namespace {

MachineOptions size_only() {
  MachineOptions options;
  options.gpu.profile = "a100-80g";
  options.gpu.values = false;
  return options;
}

void body_of_40_requests(benchmark::State& state) {
  const auto body = [] {
    std::vector<Tensor> tensors;
    tensors.reserve(40);
    for (int i = 1; i <= 40; ++i) {
      tensors.push_back(empty({1024 * i}, {DType::float32, Device::cuda(0)}));
    }
    return BodyResult{1};
  };
  std::int64_t faults = 0;
  for (auto _ : state) {
    state.PauseTiming();  // one sweep a machine: its record of events keeps all that it did
    {
      Machine machine(size_only());
      const ContextGuard guard(machine.context());
      machine.add_gpus();
      state.ResumeTiming();
      for (const FaultForm form : {FaultForm::transient, FaultForm::persistent}) {
        faults += sweep_body(machine, form, body).faults;
      }
      state.PauseTiming();
    }
    state.ResumeTiming();
  }
  state.SetItemsProcessed(faults);
}
BENCHMARK(body_of_40_requests);

void script_of_40_requests(benchmark::State& state) {
  LoadRequest request;
  request.path = "body.lua";
  request.caps.instructions = UINT64_MAX;
  request.source =
      "local function body(d)\n"
      "  local x, y = {device = d}, nil\n"
      "  for i = 1, 40 do y = ohm.empty(1024 * i, x) end\n"
      "  return 1\n"
      "end\n"
      "local function run(d)\n"
      "  for _ = 1, 25 do ohm.fault.sweep(function() return body(d) end) end\n"
      "end\n"
      "return ohm.scenario {name = 'body', summary = 's', limits = {'num_ooms == 0'},\n"
      "  problems = {run = run}}\n";
  const MachineOptions options = size_only();
  for (auto _ : state) run_variant(lua::load_scenario, request, "run", options);
  state.SetItemsProcessed(state.iterations() * 25 * 40);
}
BENCHMARK(script_of_40_requests)->Unit(benchmark::kMillisecond);

/// A scenario whose variant does this.
LoadRequest step_of(const std::string& body) {
  LoadRequest request;
  request.path = "step.lua";
  request.source =
      "local nn = ohm.nn\n"
      "local function run(d)\n" +
      body +
      "end\n"
      "return ohm.scenario {name = 'step', summary = 's', limits = {'num_ooms == 0'},\n"
      "  problems = {run = run}}\n";
  return request;
}

LoadRequest step_of_layers(int layers) {
  return step_of(
      "  local layers = {}\n"
      "  for i = 1, " +
      std::to_string(layers) +
      " do layers[2 * i - 1], layers[2 * i] = nn.Linear(64, 64), nn.ReLU() end\n"
      "  local net = nn.Sequential(table.unpack(layers)):to(d)\n"
      "  net(ohm.ones(16, 64, {device = d})):sum():backward()\n");
}

LoadRequest step_of_transformer(int layers) {
  return step_of(
      "  local layer = nn.TransformerEncoderLayer(64, 4, {batch_first = true})\n"
      "  local net = nn.TransformerEncoder(layer, " +
      std::to_string(layers) +
      "):to(d)\n"
      "  local optimizer = ohm.optim.AdamW(net:parameters(), {lr = 1e-3})\n"
      "  net(ohm.ones(4, 16, 64, {device = d})):sum():backward()\n"
      "  optimizer:step()\n");
}

/// Every call of a run, or kMostFaults of them, evenly spread.
std::vector<FaultTask> tasks_for(std::size_t calls) {
  constexpr std::size_t kMostFaults = 2000;
  const std::size_t count = std::min(calls, kMostFaults);
  std::vector<FaultTask> tasks;
  for (std::size_t i = 0; i < count; ++i) tasks.push_back({i * calls / count, {}});
  return tasks;
}

/// In a process of its own, so that trials do not begin with what it leaves on the heap.
FaultFreeRun fault_free_run_of(const TrialSetup& setup) {
  FaultFreeRun run;
  WorkerPool pool({1});
  pool.submit(
      0, [&] { return encoded(fault_free_run(lua::load_scenario, setup)); },
      [&](const WorkResult& result) { run = decoded_fault_free_run(result.message); });
  pool.run([] { return true; });
  return run;
}

/// Processor time of all processes that have ended.
double seconds_of_children() {
  rusage used = {};
  ::getrusage(RUSAGE_CHILDREN, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

/// On two cores, as ohm sweep -j 2 does it, or with a fork for each trial: range(1) is 0.
void sweep_step(benchmark::State& state, const LoadRequest& step) {
  constexpr std::size_t kJobs = 2;
  TrialsOptions options;
  if (state.range(1) == 0) options.most_bytes_put_back = 0;
  const TrialSetup setup{step, "run", size_only(), {}};
  const FaultFreeRun fault_free = fault_free_run_of(setup);
  std::array<std::vector<FaultTask>, kJobs> slices;
  std::size_t next = 0;
  for (const FaultTask& task : tasks_for(fault_free.calls.size())) {
    slices[next++ % kJobs].push_back(task);
  }
  std::int64_t faults = 0;
  const double before = seconds_of_children();
  for (auto _ : state) {
    WorkerPool pool({kJobs});
    for (const std::vector<FaultTask>& tasks : slices) {
      pool.submit(
          0,
          [&] { return encoded(run_tasks(lua::load_scenario, setup, fault_free, tasks, options)); },
          [&](const WorkResult& result) {
            faults += static_cast<std::int64_t>(decoded_verdicts(result.message).size());
          });
    }
    pool.run([] { return true; });
  }
  state.SetItemsProcessed(faults);
  // By itself, whatever else runs.
  state.counters["processor_us"] =
      1e6 * (seconds_of_children() - before) / static_cast<double>(faults);
  state.counters["requests"] = static_cast<double>(fault_free.calls.size());
}

void step_of_many_layers(benchmark::State& state) {
  sweep_step(state, step_of_layers(static_cast<int>(state.range(0))));
}
BENCHMARK(step_of_many_layers)
    ->ArgNames({"layers", "goes_back"})
    ->ArgsProduct({{11, 111, 1111}, {0, 1}})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

void step_of_a_transformer(benchmark::State& state) {
  sweep_step(state, step_of_transformer(static_cast<int>(state.range(0))));
}
BENCHMARK(step_of_a_transformer)
    ->ArgNames({"layers", "goes_back"})
    ->ArgsProduct({{9}, {0, 1}})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ohm::engine

int main(int argc, char** argv) {
  ohm::engine::keep_freed_memory();  // as ohm does: what a copy of the process costs depends on it
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
