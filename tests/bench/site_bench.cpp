// Every recorded event names its site: looking up a known one is on the path of each allocation.
#include <benchmark/benchmark.h>

#include "allocator_shim/observe/site.h"

namespace ohm {
namespace {

void find_known_site(benchmark::State& state) {
  SiteTable table;
  for (int line = 1; line <= 1000; ++line) table.intern("scenarios/a.lua", line, "matmul");
  int line = 0;
  for (auto _ : state) {
    line = line % 1000 + 1;
    benchmark::DoNotOptimize(table.intern("scenarios/a.lua", line, "matmul"));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(find_known_site);

}  // namespace
}  // namespace ohm
