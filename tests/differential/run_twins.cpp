// Runs twins in Lua and prints what each made the runtime do: the other side of record.py.
//
//   run_twins pytorch-2.6|pytorch-2.11|pytorch-2.15 PROFILE < TWINS
//
// The first is the rule set. TWINS is in the form of tests/golden/pytorch/programs. For each
// program: "== name", then the lines of a recording, and "error: …" where it ended with one.
#include <fmt/format.h>

#include <cstdio>
#include <iostream>
#include <iterator>
#include <string>

#include "tests/harness/recordings/recordings.h"

namespace ohm::test {
namespace {

const RecordedVersion* find_version(std::string_view rules) {
  for (const RecordedVersion& version : kRecordedVersions) {
    if (version.rules == rules) return &version;
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
  const RecordedVersion* version = argc == 3 ? find_version(argv[1]) : nullptr;
  if (version == nullptr) {
    fmt::print(stderr, "usage: run_twins pytorch-2.6|pytorch-2.11|pytorch-2.15 PROFILE < TWINS\n");
    return 2;
  }
  const RecordedGpu gpu{"", argv[2]};
  const std::string text{std::istreambuf_iterator<char>(std::cin),
                         std::istreambuf_iterator<char>()};
  for (const TwinProgram& twin : parse_twins(text)) {
    print(twin, run_twin(twin, *version, gpu));
  }
  return 0;
}
