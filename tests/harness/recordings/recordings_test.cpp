// The runtime allocates what PyTorch allocates, when PyTorch does: whole programs, event for event.
#include "tests/harness/recordings/recordings.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/golden.h"

namespace ohm::test {
namespace {

// One line for each program of the family that differs: its name, the GPU, the first difference.
std::string differences_of(const std::string& family) {
  std::string text;
  for (const RecordedGpu& gpu : kRecordedGpus) {
    for (const Recording& recording : read_recordings(family, gpu)) {
      const std::optional<TwinProgram> twin = find_twin(recording.program);
      const std::optional<std::string> difference =
          twin ? first_difference(recording, run_twin(*twin, gpu))
               : std::optional<std::string>("there is no twin");
      if (difference)
        text += fmt::format("{} {}: {}\n", recording.program, gpu.number, *difference);
    }
  }
  return text;
}

class Recordings : public testing::TestWithParam<std::string> {};

// A program that agrees may not be listed, one that does not must be, with what differs first.
TEST_P(Recordings, DifferOnlyWhereListed) {
  expect_golden(differences_of(GetParam()), "pytorch/differences/" + GetParam() + ".txt");
}

INSTANTIATE_TEST_SUITE_P(PyTorch, Recordings, testing::ValuesIn(recorded_families()),
                         [](const auto& param) { return param.param; });

}  // namespace
}  // namespace ohm::test
