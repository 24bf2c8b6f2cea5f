#include "harness/fit/measured_error.h"

#include <algorithm>
#include <array>

namespace ohm::engine {

namespace {

/// Results of tests/comparisons/accuracy in docs/accuracy.md, against xMem's runs on an RTX 3060
/// and an RTX 4060.
struct MeasuredJobs {
  bool has_convolutions;
  double most_percent;
  int jobs;
  std::string_view comparable;
};

constexpr std::array kMeasuredJobs = {
    MeasuredJobs{false, 7.7, 23, "without convolutions (transformers, float32, RTX 3060 and 4060)"},
    MeasuredJobs{true, 11.1, 18, "with convolutions (CNNs, float32, RTX 3060 and 4060)"},
};

constexpr std::string_view kTorchVersion = "2.6.";
constexpr std::string_view kConvolutions = "cudnn_workspace";
// What the jobs rest on, too; any other assumption takes a job out of those that were measured.
constexpr std::array<std::string_view, 3> kOfTheJobs = {kConvolutions, "cudnn_batch_norm",
                                                        "process_context"};

bool is_measured_gpu(const GpuSelection& gpu) {
  const std::array<int, 2>& capability = gpu.profile.compute_capability;
  return gpu.count.value_or(1) == 1 &&
         (capability == std::array{8, 6} || capability == std::array{8, 9});
}

}  // namespace

std::optional<FitError> measured_error(const GpuSelection& gpu, std::string_view torch_version,
                                       const std::vector<std::string>& assumptions) {
  const bool rests_on_known =
      std::all_of(assumptions.begin(), assumptions.end(), [](const std::string& assumption) {
        return std::find(kOfTheJobs.begin(), kOfTheJobs.end(), assumption) != kOfTheJobs.end();
      });
  const bool is_measured =
      is_measured_gpu(gpu) && torch_version.starts_with(kTorchVersion) && rests_on_known;
  if (!is_measured) return std::nullopt;
  const bool has_convolutions =
      std::find(assumptions.begin(), assumptions.end(), kConvolutions) != assumptions.end();
  for (const MeasuredJobs& row : kMeasuredJobs) {
    if (row.has_convolutions != has_convolutions) continue;
    return FitError{row.most_percent, row.jobs, std::string(row.comparable)};
  }
  return std::nullopt;
}

}  // namespace ohm::engine
