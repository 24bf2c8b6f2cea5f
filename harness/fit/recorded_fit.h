// The largest value of what varies between recordings of one program that fits on a card: what each
// request grows by is told by the recordings, and the allocator replays them at other values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "allocator_shim/device/gpu_profile.h"
#include "harness/fit/varied_recording.h"
#include "reports/model/fit_result.h"

namespace ohm::engine {

struct RecordedFitOptions {
  std::vector<std::string> files;    ///< at least two
  std::string varied;                ///< what to call it
  std::vector<std::int64_t> values;  ///< of each file: positive, all different
  std::int64_t least = 1;
  std::int64_t most = 65536;
  std::vector<GpuSelection> gpus;
  std::vector<std::string> limits;  ///< on peaks and retries
  std::string rules;                ///< name of a rule set; empty: one that agrees with the files
  std::optional<std::string> alloc_conf;  ///< absent: that of the recording of the largest value
};

/// Throws RecordingError for recordings that cannot be read or compared, std::invalid_argument for
/// limits and settings.
FitResult fit_recordings(const RecordedFitOptions& options);

}  // namespace ohm::engine
