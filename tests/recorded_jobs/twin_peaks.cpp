// Runs the twins of all recorded programs and prints what the largest allocated bytes of each held:
// the truth that category_accuracy.py compares records with.
//
//   twin_peaks pytorch-2.6|pytorch-2.15
//
// One line for each GPU of each program: "NAME GPU parameter=BYTES gradient=BYTES …".
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>

#include "tests/harness/recordings/recordings.h"

namespace ohm::test {
namespace {

void print_peaks(const TwinProgram& twin, const TwinRun& run) {
  for (std::size_t gpu = 0; gpu < run.peaks.size(); ++gpu) {
    fmt::print("{} {}", twin.name, gpu);
    for (std::size_t i = 0; i < kCategoryCount; ++i) {
      fmt::print(" {}={}", kCategoryNames[i], run.peaks[gpu][i]);
    }
    fmt::print("\n");
  }
}

}  // namespace
}  // namespace ohm::test

int main(int argc, char** argv) {
  using namespace ohm::test;
  const auto version =
      std::find_if(std::begin(kRecordedVersions), std::end(kRecordedVersions),
                   [&](const RecordedVersion& v) { return argc == 2 && v.rules == argv[1]; });
  if (version == std::end(kRecordedVersions)) {
    fmt::print(stderr, "usage: twin_peaks pytorch-2.6|pytorch-2.15\n");
    return 2;
  }
  for (const std::string& name : twins_named("")) {
    const TwinProgram twin = find_twin(name).value();
    print_peaks(twin, run_twin(twin, *version, kRecordedGpus[0]));
  }
  return 0;
}
