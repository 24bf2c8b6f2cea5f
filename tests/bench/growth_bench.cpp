// How costs grow: the processor's seconds for n/8, n/4, n/2 and n of something, and the exponent of
// the line through them (1: twice as many take twice as long). What does not fit a cache any more
// takes longer: growth_instructions.py counts what that does not change.
// `growth_bench --benchmark_filter=/16000` for one n.
//
// One more curve is one more row of kScripts.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "harness/lua/libraries/script_bindings.h"
#include "harness/lua/scenario_loader.h"
#include "harness/lua/vm/interpreter.h"
#include "harness/run/runner.h"
#include "tests/support/temp_folder.h"
#include "tests/support/test_machine.h"

namespace ohm {
namespace {

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

/// Of this process and of those that it has started, and waited for.
double processor_seconds_so_far() {
  double seconds = 0;
  for (const int whose : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage used{};
    ::getrusage(whose, &used);
    seconds += seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
  }
  return seconds;
}

// growth_instructions.py finds it by its name.
[[gnu::noinline]] double processor_seconds_of(const std::function<void()>& work) {
  const double before = processor_seconds_so_far();
  work();
  return processor_seconds_so_far() - before;
}

// ---- curves of scripts --------------------------------------------------------------------------

/// What is timed is the global function `body(n)`, after `prepare(n)`.
struct GrowingScript {
  const char* name;
  const char* before;  ///< the beginning of the script
  const char* body;    ///< the rest of it
};

constexpr const char* kNothing = "function prepare() end\n";

// A list of n linear layers with one parameter each.
constexpr const char* kLayers =
    "local nn, layers = ohm.nn, nil\n"
    "function prepare(n)\n"
    "  layers = nn.ModuleList()\n"
    "  for _ = 1, n do layers:append(nn.Linear(1, 1, {bias = false, device = 'cuda'})) end\n"
    "end\n";

// A linear layer in n modules, each in the next one.
constexpr const char* kNested =
    "local nested\n"
    "function prepare(n)\n"
    "  nested = ohm.nn.Linear(1, 1, {bias = false, device = 'cuda'})\n"
    "  for _ = 1, n do nested = ohm.nn.Sequential(nested) end\n"
    "end\n";

constexpr GrowingScript kScripts[] = {
    {"modules_appended", kNothing,
     "function body(n)\n"
     "  local layers = ohm.nn.ModuleList()\n"
     "  for _ = 1, n do layers:append(ohm.nn.ReLU()) end\n"
     "end"},
    {"modules_found_by_name", kLayers,
     "function body(n) for i = 0, n - 1 do local _ = layers[tostring(i)] end end"},
    {"modules_listed", kLayers, "function body() layers:named_modules() layers:modules() end"},
    {"modules_moved", kLayers, "function body() layers:to('cpu') layers:cuda() end"},
    {"modules_switched", kLayers, "function body() layers:eval() layers:requires_grad_(false) end"},
    {"parameters_listed", kLayers, "function body() layers:parameters() end"},
    {"state_dict", kLayers, "function body() layers:load_state_dict(layers:state_dict()) end"},
    {"adam_steps", kLayers,
     "function body()\n"
     "  local optimizer = ohm.optim.Adam(layers:parameters())\n"
     "  for _ = 1, 2 do\n"
     "    ohm.cat(layers:parameters()):sum():backward()\n"
     "    optimizer:step()\n"
     "    optimizer:zero_grad()\n"
     "  end\n"
     "end"},
    {"modules_nested", kNothing,
     "function body(n)\n"
     "  local nested = ohm.nn.ReLU()\n"
     "  for _ = 1, n do nested = ohm.nn.Sequential(nested) end\n"
     "end"},
    {"nested_modules_walked", kNested,
     "function body()\n"
     "  nested:parameters() nested:modules() nested:to('cpu') nested:eval() nested:zero_grad()\n"
     "  nested:state_dict() nested:apply(function() end)\n"
     "end"},
    {"nested_modules_dropped", kNested, "function body() nested = nil ohm.ones(1) end"},
    {"hooks_called", kNothing,
     "function body(n)\n"
     "  local relu, hook = ohm.nn.ReLU(), function() end\n"
     "  for _ = 1, n do relu:register_forward_hook(hook) end\n"
     "  relu(ohm.ones(1))\n"
     "end"},
    {"hooks_removed", kNothing,
     "function body(n)\n"
     "  local relu, x, hooks = ohm.nn.ReLU(), ohm.ones(1, {requires_grad = true}), {}\n"
     "  for i = 1, n do\n"
     "    hooks[i] = {relu:register_forward_hook(print), x:register_hook(print)}\n"
     "  end\n"
     "  for i = 1, n do hooks[i][1]:remove() hooks[i][2]:remove() end\n"
     "end"},
    {"parameter_groups", kNothing,
     "function body(n)\n"
     "  local groups = {}\n"
     "  for i = 1, n do groups[i] = {params = {ohm.ones(1, {requires_grad = true})}} end\n"
     "  local optimizer = ohm.optim.Adam(groups)\n"
     "  for i = 1, n do groups[i].params[1].grad = ohm.ones(1) end\n"
     "  optimizer:step()\n"
     "  optimizer:load_state_dict(optimizer:state_dict())\n"
     "  for i = 1, n do optimizer.param_groups[i].lr = 0.5 end\n"
     "end"},
    {"weak_keys", kNothing,
     "function body(n)\n"
     "  local ages, kept = setmetatable({}, {__mode = 'k'}), {}\n"
     "  for i = 1, n do kept[i] = ohm.ones(1) ages[kept[i]] = i end\n"
     "  for i = 1, n do kept[i] = nil ohm.ones(1) end\n"
     "end"},
    {"weak_values", kNothing,
     "function body(n)\n"
     "  local cache, kept = setmetatable({}, {__mode = 'v'}), {}\n"
     "  for i = 1, n do kept[i] = {ohm.ones(1)} cache[i] = kept[i] end\n"
     "  for i = 1, n do kept[i] = nil ohm.ones(1) end\n"
     "end"},
    {"tables_under_weak_keys", kNothing,
     "function body(n)\n"
     "  local memo, kept = setmetatable({}, {__mode = 'k'}), {}\n"
     "  for i = 1, n do kept[i] = ohm.ones(1) memo[kept[i]] = {i} end\n"
     "  for i = 1, n do kept[i] = nil ohm.ones(1) end\n"
     "end"},
    {"objects_in_a_chain", kNothing,
     "function body(n)\n"
     "  local first = false\n"
     "  for _ = 1, n do first = ohm.object {next = first} end\n"
     "  first = nil\n"
     "  ohm.ones(1)\n"
     "end"},
    {"objects_in_a_cycle", kNothing,
     "function body(n)\n"
     "  local first = ohm.object {}\n"
     "  local last = first\n"
     "  for _ = 2, n do last = ohm.object {next = last} end\n"
     "  first.next = last\n"
     "  first, last = nil, nil\n"
     "  ohm.ones(1)\n"
     "  ohm.gc.collect()\n"
     "end"},
    {"objects_linked_both_ways", kNothing,
     "function body(n)\n"
     "  local first = ohm.object {}\n"
     "  local last = first\n"
     "  for _ = 2, n do\n"
     "    local new = ohm.object {x = ohm.ones(1)}\n"
     "    new.before, last.after = last, new\n"
     "    last = new\n"
     "  end\n"
     "end"},
    {"objects_in_many_cycles", kNothing,
     "function body(n)\n"
     "  for _ = 1, n do\n"
     "    local one, other = ohm.object {x = ohm.ones(1)}, ohm.object {}\n"
     "    one.other, other.one = other, one\n"
     "  end\n"
     "  ohm.gc.collect()\n"
     "end"},
    {"objects_of_tensors", kNothing,
     "function body(n)\n"
     "  local first = false\n"
     "  for _ = 1, n do first = ohm.object {x = ohm.ones(1), next = first} end\n"
     "end"},
    {"ops_beside_objects", kNothing,
     "function body(n)\n"
     "  local kept, x = {}, ohm.ones(1)\n"
     "  for i = 1, n do kept[i] = ohm.object {i} end\n"
     "  for _ = 1, n do x = x + 1 end\n"
     "end"},
    {"objects_that_go", kNothing,
     "function body(n)\n"
     "  local kept, object = {}, nil\n"
     "  for i = 1, n do kept[i] = {i} end\n"
     "  for _ = 1, n do object = ohm.object {x = ohm.ones(1)} end\n"
     "end"},
    {"tensors_in_a_table", kNothing,
     "function body(n)\n"
     "  local kept = {}\n"
     "  for i = 1, n do kept[i] = ohm.ones(1) end\n"
     "end"},
    {"ops_beside_tables", kNothing,
     "function body(n)\n"
     "  local kept, x = {}, ohm.ones(1)\n"
     "  for i = 1, n do kept[i] = {i} end\n"
     "  for _ = 1, n do x = x + 1 end\n"
     "end"},
    {"ops_beside_closures", kNothing,
     "function body(n)\n"
     "  local kept, x = {}, ohm.ones(1)\n"
     "  for i = 1, n do kept[i] = function() return i end end\n"
     "  for _ = 1, n do x = x + 1 end\n"
     "end"},
    {"ops_beside_strings", kNothing,
     "function body(n)\n"
     "  local kept, x = {}, ohm.ones(1)\n"
     "  for i = 1, n do kept[i] = 'text ' .. i end\n"
     "  for _ = 1, n do x = x + 1 end\n"
     "end"},
    {"ops_in_a_coroutine", kNothing,
     "function body(n)\n"
     "  local kept, x = {}, ohm.ones(1)\n"
     "  for i = 1, n do kept[i] = {i} end\n"
     "  coroutine.wrap(function() for _ = 1, n do x = x + 1 end end)()\n"
     "end"},
    {"ops_beside_coroutines", kNothing,
     "function body(n)\n"
     "  local kept, x = {}, ohm.ones(1)\n"
     "  for i = 1, n do\n"
     "    kept[i] = coroutine.create(coroutine.yield)\n"
     "    coroutine.resume(kept[i], i)\n"
     "  end\n"
     "  for _ = 1, n do x = x + 1 end\n"
     "end"},
    {"tensors_of_a_generator", kNothing,
     "function body(n)\n"
     "  local kept = {}\n"
     "  for i = 1, n do kept[i] = {i} end\n"
     "  local function tensors() for _ = 1, n do coroutine.yield(ohm.ones(1)) end end\n"
     "  for x in coroutine.wrap(tensors) do local _ = x + 1 end\n"
     "end"},
    {"batches_of_a_loader", kNothing,
     "function body(n)\n"
     "  local kept = {}\n"
     "  for i = 1, n do kept[i] = {i} end\n"
     "  local set = ohm.utils.data.TensorDataset(ohm.ones(n, 1))\n"
     "  for x in ohm.utils.data.DataLoader(set) do local _ = x + 1 end\n"
     "end"},
    {"ops_of_ranks", kNothing,
     "function body(n)\n"
     "  local kept = {}\n"
     "  for i = 1, n do kept[i] = {i} end\n"
     "  ohm.distributed.spawn(2, function()\n"
     "    local x = ohm.ones(1)\n"
     "    for _ = 1, n / 2 do x = x + 1 end\n"
     "  end)\n"
     "end"},
    {"tables_of_tensors", kNothing,
     "function body(n)\n"
     "  local kept = {}\n"
     "  for i = 1, n do kept[i] = {x = ohm.ones(1)} end\n"
     "end"},
    {"tensors_in_a_chain", kNothing,
     "function body(n)\n"
     "  local first\n"
     "  for _ = 1, n do first = {x = ohm.ones(1), next = first} end\n"
     "end"},
    {"fields_overwritten", kNothing,
     "function body(n)\n"
     "  local kept, state = {}, {}\n"
     "  for i = 1, n do kept[i] = {i} end\n"
     "  for _ = 1, n do state.x = ohm.ones(1) end\n"
     "end"},
    {"faults_joined", kNothing,
     "function body(n)\n"
     "  local plan = ohm.fault.nth(1)\n"
     "  for _ = 1, n do plan = plan & ohm.fault.nth(1) end\n"
     "end"},
    {"faults_in_turn", kNothing,
     "function body(n)\n"
     "  local plan = ohm.fault.nth(1)\n"
     "  for _ = 1, n do plan = plan >> ohm.fault.nth(1) end\n"
     "end"},
};

class Script {
 public:
  explicit Script(const std::string& source)
      : machine_({.values = ValueMode::size_only}),
        interpreter_("bench.lua", {.instructions = UINT64_MAX}, 0, lua::script_bindings()) {
    interpreter_.load(source, "bench.lua");
    interpreter_.call(0, 0);
  }

  void call(const char* function, std::int64_t n) {
    lua_State* L = interpreter_.state();
    lua_getglobal(L, function);
    lua_pushinteger(L, n);
    interpreter_.call(1, 0);
  }

 private:
  test::TestMachine machine_;
  lua::Interpreter interpreter_;
};

double seconds_of_script(const GrowingScript& growing, std::int64_t n) {
  Script script(std::string(growing.before) + growing.body);
  script.call("prepare", n);
  return processor_seconds_of([&] { script.call("body", n); });
}

// ---- variants -----------------------------------------------------------------------------------

std::string scenario_with_variants(std::int64_t n) {
  return "local checks = {}\n"
         "for i = 1, " +
         std::to_string(n) +
         " do checks['v' .. i] = {run = function() end, limits = {'num_ooms == 0'}} end\n"
         "return ohm.scenario {name = 'many', gpu = {profile = 'tiny-64m', values = false},\n"
         "  checks = checks}\n";
}

/// What failed has taken no time that says anything.
void require(bool is_as_expected) {
  if (!is_as_expected) throw std::runtime_error("a scenario of many variants did not run");
}

struct NoObserver final : engine::RunObserver {
  void on_progress(std::size_t /*finished*/, std::size_t /*total*/) override {}
  void on_scenario(const ScenarioResult& /*scenario*/) override {}
};

double seconds_of_variants(std::int64_t n) {
  const test::TempFolder folder;
  folder.write("many.lua", scenario_with_variants(n));
  engine::RunOptions options;
  options.files = {folder.file("many.lua")};
  NoObserver observer;
  return processor_seconds_of([&] {
    require(engine::run_scenarios(options, lua::load_scenario, observer).exit_code() == 0);
  });
}

double seconds_of_loading(std::int64_t n) {
  const test::TempFolder folder;
  folder.write("many.lua", scenario_with_variants(n));
  engine::RunOptions options;
  options.files = {folder.file("many.lua")};
  return processor_seconds_of(
      [&] { require(!engine::list_scenarios(options, lua::load_scenario).front().error); });
}

// ---- peers: what the caches alone make of it ----------------------------------------------------

/// As large as a small module or an object of a script.
struct Block {
  std::unique_ptr<Block> next;
  std::array<char, 248> bytes{};
};

double seconds_of_names(std::int64_t n) {
  const auto name = [](std::int64_t i) { return "layers." + std::to_string(i) + ".weight"; };
  std::unordered_map<std::string, std::unique_ptr<Block>> blocks;
  for (std::int64_t i = 0; i < n; ++i) blocks[name(i)] = std::make_unique<Block>();
  return processor_seconds_of([&] {
    for (std::int64_t i = 0; i < n; ++i) blocks.at(name(i))->bytes.back() = 1;
  });
}

double seconds_of_list(std::int64_t n) {
  return processor_seconds_of([&] {
    std::unique_ptr<Block> first;
    for (std::int64_t i = 0; i < n; ++i) {
      auto made = std::make_unique<Block>();
      made->next = std::exchange(first, nullptr);
      first = std::move(made);
    }
    while (first) first = std::move(first->next);
  });
}

// ---- the exponent -------------------------------------------------------------------------------

using Curve = std::function<double(std::int64_t n)>;

/// The slope of the line through the logarithms.
double exponent_of(const std::vector<double>& sizes, const std::vector<double>& seconds) {
  const auto count = static_cast<double>(sizes.size());
  double x = 0;
  double y = 0;
  double xx = 0;
  double xy = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const double u = std::log(sizes[i]);
    const double v = std::log(seconds[i]);
    x += u;
    y += v;
    xx += u * u;
    xy += u * v;
  }
  return (count * xy - x * y) / (count * xx - x * x);
}

void measure(benchmark::State& state, const Curve& curve) {
  std::vector<double> sizes;
  std::vector<double> seconds;
  for (auto _ : state) {
    sizes.clear();
    seconds.clear();
    for (std::int64_t n = std::max<std::int64_t>(1, state.range(0) / 8); n <= state.range(0);
         n *= 2) {
      sizes.push_back(static_cast<double>(n));
      seconds.push_back(curve(n));
    }
  }
  state.counters["exponent"] = exponent_of(sizes, seconds);
  state.counters["seconds_of_n"] = seconds.back();
}

void add_curve(const std::string& name, const Curve& curve,
               const std::vector<std::int64_t>& largest) {
  auto* const made = benchmark::RegisterBenchmark(
      name.c_str(), [curve](benchmark::State& state) { measure(state, curve); });
  for (const std::int64_t n : largest) made->Arg(n);
  made->Unit(benchmark::kMillisecond)->Iterations(1);
}

[[maybe_unused]] const bool kCurvesAreThere = [] {
  for (const GrowingScript& script : kScripts) {
    add_curve(script.name, [&script](std::int64_t n) { return seconds_of_script(script, n); },
              {160, 16000, 96000});
  }
  add_curve("variants_loaded", seconds_of_loading, {160, 16000, 96000});
  add_curve("variants_run", seconds_of_variants, {40, 800, 4000});
  add_curve("peer_names_in_a_hash_table", seconds_of_names, {160, 16000, 96000});
  add_curve("peer_list_of_blocks", seconds_of_list, {160, 16000, 96000});
  return true;
}();

}  // namespace
}  // namespace ohm
