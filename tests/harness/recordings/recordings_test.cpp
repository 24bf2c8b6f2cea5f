// The runtime allocates what PyTorch allocates, when PyTorch does: whole programs, event for event.
#include "tests/harness/recordings/recordings.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "tests/support/golden.h"

namespace ohm::test {
namespace {

struct RecordedFamily {
  RecordedVersion version;
  std::string name;
};

std::vector<RecordedFamily> all_families() {
  std::vector<RecordedFamily> families;
  for (const RecordedVersion& version : kRecordedVersions) {
    for (std::string& name : recorded_families(version)) {
      families.push_back({version, std::move(name)});
    }
  }
  return families;
}

// One line for each program of the family that differs: its name, the GPU, the first difference.
std::string differences_of(const RecordedFamily& family) {
  std::string text;
  for (const RecordedGpu& gpu : family.version.gpus) {
    for (const Recording& recording : read_recordings(family.version, family.name, gpu)) {
      const std::optional<TwinProgram> twin = find_twin(recording.program);
      const std::optional<std::string> difference =
          twin ? first_difference(recording, run_twin(*twin, family.version, gpu))
               : std::optional<std::string>("there is no twin");
      if (difference)
        text += fmt::format("{} {}: {}\n", recording.program, gpu.number, *difference);
    }
  }
  return text;
}

class Recordings : public testing::TestWithParam<RecordedFamily> {};

// A program that agrees may not be listed, one that does not must be, with what differs first.
TEST_P(Recordings, DifferOnlyWhereListed) {
  const RecordedFamily& family = GetParam();
  expect_golden(differences_of(family),
                fmt::format("pytorch/differences-{}/{}.txt", family.version.name, family.name));
}

INSTANTIATE_TEST_SUITE_P(PyTorch, Recordings, testing::ValuesIn(all_families()),
                         [](const auto& info) {
                           std::string name =
                               fmt::format("{}_{}", info.param.name, info.param.version.name);
                           std::replace_if(
                               name.begin(), name.end(),
                               [](char c) { return c == '-' || c == '.'; }, '_');
                           return name;
                         });

}  // namespace
}  // namespace ohm::test
