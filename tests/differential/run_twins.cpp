// Runs twins in Lua and prints what each made the runtime do: the other side of record.py.
//
//   run_twins 80|90 < TWINS
//
// TWINS is in the form of tests/golden/pytorch/programs. For each program: "== name", then the
// lines of a recording, and "error: …" where it ended with one.
#include <fmt/format.h>

#include <cstdio>
#include <iostream>
#include <iterator>
#include <string>

#include "tests/harness/recordings/recordings.h"

namespace ohm::test {
namespace {

const RecordedGpu* find_gpu(std::string_view number) {
  for (const RecordedGpu& gpu : kRecordedGpus) {
    if (gpu.number == number) return &gpu;
  }
  return nullptr;
}

void print(const TwinProgram& twin, const TwinRun& run) {
  fmt::print("== {}\n", twin.name);
  for (const Lines& lines : run.gpus) {
    for (const std::string& line : lines) fmt::print("{}\n", line);
  }
  if (!run.error.empty()) fmt::print("{}\n", run.error);
}

}  // namespace
}  // namespace ohm::test

int main(int argc, char** argv) {
  using namespace ohm::test;
  const RecordedGpu* gpu = argc == 2 ? find_gpu(argv[1]) : nullptr;
  if (gpu == nullptr) {
    fmt::print(stderr, "usage: run_twins 80|90 < TWINS\n");
    return 2;
  }
  const std::string text{std::istreambuf_iterator<char>(std::cin),
                         std::istreambuf_iterator<char>()};
  for (const TwinProgram& twin : parse_twins(text)) print(twin, run_twin(twin, *gpu));
  return 0;
}
