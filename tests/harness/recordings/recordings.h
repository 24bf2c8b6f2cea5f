// Programs that PyTorch ran and whose allocations were recorded, and their twins in Lua.
//
// tests/golden/pytorch has one file for each family of programs: `programs` (Lua, each program
// after a line "--== name settings"; of the family "rules" several files), and for each version of
// PyTorch `recordings` (described in their heads) and `differences` (which programs do not agree,
// and where). Recordings are stored compressed, but for some examples in recordings/2.15; most
// twins are written when the tests are built (tests/differential/write_twins.py). Beside events and
// marks a line has the dtype, shape and strides of a tensor, wherever the program calls
// layout(tensor).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "allocator_shim/observe/category.h"

namespace ohm::test {

/// A GPU that the recordings were made on.
struct RecordedGpu {
  std::string_view number;   ///< as the lines of a recording name it: "80"
  std::string_view profile;  ///< of ours
};
inline constexpr RecordedGpu kRecordedGpus[] = {{"80", "golden-sm80"}, {"90", "golden-sm90"}};
/// A real one.
inline constexpr RecordedGpu kRecordedCards[] = {{"H200", "h200-141g"}};

/// A version of PyTorch that was recorded, on these GPUs.
struct RecordedVersion {
  std::string_view rules;  ///< the rule set that has to do the same
  std::string_view name;   ///< of its folder
  std::span<const RecordedGpu> gpus = kRecordedGpus;
};
inline constexpr RecordedVersion kRecordedVersions[] = {
    {"pytorch-2.6", "2.6"},
    {"pytorch-2.11", "2.11"},
    {"pytorch-2.11", "2.11-h200", kRecordedCards},
    {"pytorch-2.15", "2.15"}};

/// What happened on one GPU: one line for each event and each mark.
using Lines = std::vector<std::string>;

struct Recording {
  std::string program;
  bool frees_in_any_order = false;  ///< where many blocks die at once
  std::string error;                ///< that it ended with, early; empty: it ran to its end
  std::vector<Lines> gpus;
};

struct TwinProgram {
  std::string name;
  std::string settings;  ///< "profile=… capacity_bytes=… gpus=… PYTORCH_CUDA_ALLOC_CONF=…"
  std::string source;
};

/// The families of a version, by the files in its `recordings`.
std::vector<std::string> recorded_families(const RecordedVersion& version);

/// What was recorded on this GPU, in the order of the file.
std::vector<Recording> read_recordings(const RecordedVersion& version, const std::string& family,
                                       const RecordedGpu& gpu);

/// nullopt: it is not written yet.
std::optional<TwinProgram> find_twin(const std::string& program);

/// The programs of a text in the form of the files in `programs`, in its order.
std::vector<TwinProgram> parse_twins(std::string_view text);

/// All whose names begin so.
std::vector<std::string> twins_named(std::string_view start);

/// What a twin did, in the form of a recording: its lines up to an error, if it ends with one.
struct TwinRun {
  std::vector<Lines> gpus;
  std::string error;                 ///< empty: it ran to its end
  std::vector<CategoryBytes> peaks;  ///< of each GPU: what its largest allocated bytes held
};
TwinRun run_twin(const TwinProgram& twin, const RecordedVersion& version, const RecordedGpu& gpu);

/// The first difference, in one line; nullopt when the twin does what was recorded.
std::optional<std::string> first_difference(const Recording& recording, const TwinRun& run);

}  // namespace ohm::test
