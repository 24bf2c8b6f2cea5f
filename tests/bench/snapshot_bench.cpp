// Memory snapshots as files: MB/s, and the memory that reading takes for each byte of the file.
// The files are as Python writes those of PyTorch 2.6; the argument is the number of events.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "allocator_shim/snapshot/snapshot_reader.h"
#include "allocator_shim/snapshot/snapshot_writer.h"
#include "tests/support/large_snapshot.h"
#include "tests/support/peak_memory.h"
#include "tests/support/temp_folder.h"

namespace ohm {
namespace {

using test::LargeSnapshot;

template <LargeSnapshot Kind>
void write_file(const std::string& path, std::size_t events) {
  std::ofstream file(path, std::ios::binary);
  test::write_large_snapshot(Kind, events, [&](std::string_view bytes) { file << bytes; });
}

template <LargeSnapshot Kind>
void read_file(benchmark::State& state) {
  const test::TempFolder folder;
  const std::string path = folder.file("large.pickle");
  write_file<Kind>(path, static_cast<std::size_t>(state.range(0)));
  const auto file_bytes = static_cast<std::int64_t>(std::filesystem::file_size(path));
  const std::string small = folder.file("small.pickle");
  write_file<Kind>(small, 10);
  const std::size_t peak =
      test::peak_memory_of([&] { read_snapshot_file(small); }, [&] { read_snapshot_file(path); });
  for (auto _ : state) benchmark::DoNotOptimize(read_snapshot_file(path));
  state.SetBytesProcessed(state.iterations() * file_bytes);
  state.SetItemsProcessed(state.iterations() * state.range(0));
  state.counters["file_MB"] = static_cast<double>(file_bytes) / 1e6;
  state.counters["memory_per_file_byte"] =
      static_cast<double>(peak) / static_cast<double>(file_bytes);
}
#define OHM_READ(kind)                      \
  BENCHMARK(read_file<LargeSnapshot::kind>) \
      ->Arg(1000)                           \
      ->Arg(1'000'000)                      \
      ->Unit(benchmark::kMillisecond)
OHM_READ(with_frames);
OHM_READ(without_frames);
OHM_READ(different_stacks);

void write_bytes(benchmark::State& state) {
  std::string bytes;
  test::write_large_snapshot(LargeSnapshot::with_frames, static_cast<std::size_t>(state.range(0)),
                             [&](std::string_view more) { bytes += more; });
  const Snapshot snapshot = read_snapshot(bytes);
  std::int64_t written = 0;
  for (auto _ : state) {
    write_snapshot(snapshot, [&](std::string_view more) {
      written += static_cast<std::int64_t>(more.size());
    });
  }
  state.SetBytesProcessed(written);
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(write_bytes)->Arg(1000)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ohm
