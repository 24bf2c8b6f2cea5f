// What a script costs: collecting before every native, small ops, a training step.
#include <benchmark/benchmark.h>

#include <string>

#include "harness/lua/libraries/script_bindings.h"
#include "harness/lua/vm/interpreter.h"
#include "tests/support/test_machine.h"

namespace ohm {
namespace {

/// A script that defines the global function `body`, and calls it.
class Script {
 public:
  explicit Script(const std::string& source, ValueMode values = ValueMode::keeps_values)
      : machine_({.values = values}),
        interpreter_("bench.lua", {.instructions = UINT64_MAX, .memory_bytes = 1U << 30U}, 0,
                     lua::script_bindings()) {
    interpreter_.load(source, "bench.lua");
    interpreter_.call(0, 0);
  }

  void call(std::int64_t argument) {
    lua_State* L = interpreter_.state();
    lua_getglobal(L, "body");
    lua_pushinteger(L, argument);
    interpreter_.call(1, 0);
  }
  lua::Interpreter& interpreter() { return interpreter_; }

 private:
  test::TestMachine machine_;
  lua::Interpreter interpreter_;
};

constexpr std::int64_t kTurns = 1000;

// One collection, with so many tables of the script's alive.
void collect_garbage(benchmark::State& state) {
  Script script(
      "local F = ohm.nn.functional; kept = {} "
      "function body(n) local x = ohm.ones(4) x = F.relu(x + x) "
      "for i = 1, n do kept[i] = {i} end end");
  script.call(state.range(0));
  lua::Interpreter& interpreter = script.interpreter();
  for (auto _ : state) interpreter.collect(interpreter.state());
  state.counters["heap_bytes"] = lua_gc(interpreter.state(), LUA_GCCOUNT) * 1024.0;
}
BENCHMARK(collect_garbage)->Arg(0)->Arg(100)->Arg(1000);

void run_turns(benchmark::State& state, const std::string& source) {
  Script script(source);
  for (auto _ : state) script.call(kTurns);
  state.SetItemsProcessed(state.iterations() * kTurns);
}

void add_by_operator(benchmark::State& state) {
  run_turns(state,
            "local a = ohm.ones(4) function body(n) local b for _ = 1, n do b = a + a end end");
}
BENCHMARK(add_by_operator);

void add_by_method(benchmark::State& state) {
  run_turns(state,
            "local a = ohm.ones(4) function body(n) local b for _ = 1, n do b = a:add(a) end end");
}
BENCHMARK(add_by_method);

void read_property(benchmark::State& state) {
  run_turns(state,
            "local a = ohm.ones(4) function body(n) for _ = 1, n do local b = a.ndim end end");
}
BENCHMARK(read_property);

void training_step(benchmark::State& state) {
  run_turns(state,
            "local nn, F = ohm.nn, ohm.nn.functional\n"
            "local net = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8))\n"
            "local opt = ohm.optim.SGD(net:parameters(), {lr = 0.01})\n"
            "local x, y = ohm.randn(4, 8), ohm.randint(8, {4})\n"
            "function body(n)\n"
            "  local loss\n"
            "  for _ = 1, n do\n"
            "    opt:zero_grad()\n"
            "    loss = F.cross_entropy(net(x), y)\n"
            "    loss:backward()\n"
            "    opt:step()\n"
            "  end\n"
            "end");
}
BENCHMARK(training_step);

}  // namespace
}  // namespace ohm
