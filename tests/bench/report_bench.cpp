// Reports of large records: a snapshot of PyTorch's from its file to the page. The argument is the
// number of events; 4,400,000 of them are a file of 500 MB.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "allocator_shim/snapshot/snapshot_reader.h"
#include "reports/history/snapshot_result.h"
#include "reports/html/html_report.h"
#include "tests/support/large_snapshot.h"
#include "tests/support/temp_folder.h"

namespace ohm {
namespace {

void page_of_snapshot(benchmark::State& state) {
  const test::TempFolder folder;
  const std::string path = folder.file("large.pickle");
  {
    std::ofstream file(path, std::ios::binary);
    test::write_large_snapshot(test::LargeSnapshot::with_frames,
                               static_cast<std::size_t>(state.range(0)),
                               [&](std::string_view bytes) { file << bytes; });
  }
  std::size_t page_bytes = 0;
  for (auto _ : state) {
    const RunResult result = reports::snapshot_result(read_snapshot_file(path), path);
    page_bytes = reports::html_report(result, {}).size();
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
  state.counters["file_MB"] = static_cast<double>(std::filesystem::file_size(path)) / 1e6;
  state.counters["page_MB"] = static_cast<double>(page_bytes) / 1e6;
}
BENCHMARK(page_of_snapshot)
    ->Arg(1000)
    ->Arg(1'000'000)
    ->Arg(4'400'000)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ohm
