// The result of a run: the one model that every report is a pure function of.
//
// Bytes are exact integers. Nothing here depends on the machine, the time or the number of jobs,
// except the fields that say so. Paths are as given on the command line.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "allocator_shim/observe/category.h"
#include "reports/model/exit_code.h"
#include "reports/model/memory_history.h"
#include "reports/model/shard_result.h"
#include "reports/model/vocabulary.h"

namespace ohm {

/// Blocks that one line of the scenario made and that were alive, summed.
struct HolderResult {
  std::int64_t bytes = 0;
  std::int64_t count = 0;  ///< number of blocks
  Category category = Category::other;
  std::string op;  ///< e.g. "relu"; empty outside any op
  std::string file;
  int line = 0;           ///< 1-based; 0 when unknown
  std::string text = {};  ///< of that line, without blanks around; empty: not looked up
};

/// What made up the peak of a device.
struct PeakResult {
  std::int64_t event = 0;             ///< ordinal of the event that reached it
  std::int64_t step = 1;              ///< 1-based: one more than the steps finished by then
  std::vector<HolderResult> holders;  ///< all of them: they add up to peak_allocated_bytes
};

/// One GPU over the whole variant.
struct DeviceResult {
  std::string device;   ///< "cuda:0"
  std::string profile;  ///< name of the GPU profile
  std::string card;     ///< the real one that it is on, and its driver; empty: it is virtual
  std::int64_t capacity_bytes = 0;          ///< what the device reports as its total memory
  bool values = true;                       ///< false: size-only, no arithmetic was done
  std::string rules;                        ///< which PyTorch's allocator: "pytorch-2.6"
  std::string alloc_conf;                   ///< its settings, as last written; empty: none
  std::int64_t peak_allocated_bytes = 0;    ///< largest sum of blocks handed out
  std::int64_t peak_reserved_bytes = 0;     ///< largest sum of segments
  std::int64_t allocated_at_end_bytes = 0;  ///< after the function returned and its values went
  std::int64_t num_ooms = 0;                ///< out-of-memory errors, caught ones included
  std::int64_t num_alloc_retries = 0;       ///< segments that came after the cache was flushed
  std::int64_t num_device_alloc = 0;        ///< segments obtained (cudaMalloc)
  CategoryBytes peak_by_category = {};      ///< of peak_allocated_bytes, when it was first reached
  std::optional<PeakResult> peak;           ///< where it was asked for
  /// Names of the assumptions that the bytes rest on; empty: they are exact.
  std::vector<std::string> modelled = {};
};

/// The host over the whole variant.
struct HostResult {
  std::int64_t peak_allocated_bytes = 0;
  std::int64_t allocated_at_end_bytes = 0;  ///< page-locked memory that is cached included
  std::int64_t pinned_bytes = 0;            ///< page-locked in all, each block counted once
  std::int64_t num_ooms = 0;
};

/// How a limit is to be printed and compared.
enum class Unit : std::uint8_t { bytes, count, ratio };

inline constexpr std::array<std::string_view, 3> kUnitNames = {"bytes", "count", "ratio"};

constexpr std::string_view name_of(Unit unit) { return kUnitNames[static_cast<std::size_t>(unit)]; }

struct LimitResult {
  std::string limit;               ///< as written: "growth_bytes_per_step == 0"
  Unit unit = Unit::bytes;         ///< of `measured` and `bound`
  std::optional<double> measured;  ///< integers up to 2^53 are exact; absent: see `note`
  std::optional<double> bound;     ///< what it was compared with, after resolving variants
  std::optional<bool> holds;       ///< absent: could not be told
  std::string note;                ///< why there is no measurement; empty otherwise
};

/// An out-of-memory error, and what was alive on its device when it happened.
struct OomResult {
  std::int64_t step = 1;             ///< 1-based: one more than the finished steps
  std::string device;                ///< "cuda:0", "cpu"
  std::int64_t requested_bytes = 0;  ///< as the op asked
  std::int64_t segment_bytes = 0;    ///< as the device was asked: the message's figure
  Category category = Category::other;
  std::string op;
  std::string file;
  int line = 0;
  std::string message;    ///< PyTorch's, character by character
  bool injected = false;  ///< refused by a fault policy
  std::string policy;     ///< that policy; empty when genuine
  CategoryBytes alive_by_category = {};
  std::vector<HolderResult> holders;  ///< largest first, at most kMaxHolders of them
  std::int64_t other_holders = 0;     ///< how many more there were
};

inline constexpr std::size_t kMaxHolders = 8;

/// An error of a script, or of a process.
struct ErrorResult {
  std::string message;
  std::string file;  ///< empty when unknown
  int line = 0;
  std::string traceback;
  std::string hint;  ///< what to do, one sentence; may be empty
};

/// Memory that the script could still reach when it ran out of it, or else at the peak.
struct RetainedResult {
  std::string variable;  ///< the script's name for where the path begins: "total"
  std::string function;  ///< whose local it is, or "upvalue", "global"
  int line = 0;          ///< at which that function stood; 0: none
  /// That it holds as a value, or that its graphs lead to and no variable holds. Each block counts
  /// for one variable.
  std::int64_t bytes = 0;
  std::int64_t own_bytes = 0;  ///< of these: reached from nothing else; goes when it goes
  std::int64_t blocks = 0;     ///< that `bytes` are of
  /// From the variable to the largest of what it keeps: "total", "grad_fn AddBackward", ….
  std::vector<std::string> path;
};

struct RetentionResult {
  std::string device;            ///< that the bytes are of
  std::int64_t bytes = 0;        ///< allocated there at that moment
  std::int64_t other_bytes = 0;  ///< reached from no variable: temporaries of what was running
  std::vector<RetainedResult> entries;  ///< largest first
};

/// Blocks of one line that show a finding.
struct FindingEvidence {
  std::int64_t event = 0;  ///< the first one that shows it
  std::int64_t bytes = 0;
  std::int64_t count = 0;  ///< of blocks
  std::string op;
  std::string file;
  int line = 0;
};

/// Something that a record of memory shows, in the words of the catalogue.
struct FindingResult {
  std::string pitfall;   ///< "growth per step"
  std::string scenario;  ///< whose name explains it: "leaked_loss_graph"
  std::string device;
  std::string what;                       ///< one sentence, with figures
  std::vector<FindingEvidence> evidence;  ///< largest first
};

struct VariantResult {
  std::string name;
  Role role = Role::problem;
  int line = 0;        ///< in the scenario's file
  std::string of;      ///< the problem it belongs to; empty for problems
  std::string trades;  ///< what it changes by its nature; empty: nothing
  Verdict verdict = Verdict::skipped;
  /// Why it failed: "NotReproduced", "LimitExceeded", "NotEquivalent", "FaultUnsafe"; empty
  /// unless the verdict is failed.
  std::string failure_type;
  Outcome outcome = Outcome::not_run;
  std::string reason;                                  ///< the verdict in one line
  std::int64_t steps = 0;                              ///< marks of ohm.step()
  Equivalence equivalence = Equivalence::not_checked;  ///< with the values of `reference`
  std::string reference;                               ///< whose values they were compared with
  std::string difference;                              ///< the largest one; empty when none
  std::optional<double> recovered_share;               ///< of a partial: 1 is all of the excess
  std::vector<DeviceResult> devices;                   ///< every GPU of the machine, by index
  std::optional<HostResult> host;                      ///< absent: not measured
  std::vector<LimitResult> limits;                     ///< the scenario's, then its own
  std::optional<OomResult> oom;                        ///< the one that ended it
  std::optional<ErrorResult> error;                    ///< the error that ended it
  std::optional<MemoryHistory> history;                ///< where it was asked for
  std::optional<RetentionResult> retention;            ///< with a history
  std::vector<FindingResult> findings;                 ///< of a record of another program
  std::vector<std::string> unused_faults;              ///< plans that made nothing fail
  std::string output;                                  ///< what it printed, the first 64 KiB
  std::string rerun;                                   ///< the command that repeats it
  std::optional<double> seconds;                       ///< wall time; only with --timestamps
};

/// A number that a scenario declares.
struct ParameterResult {
  std::string name;
  double value = 0;          ///< in force
  double default_value = 0;  ///< as the scenario has it
};

/// What became of injected failures: how many at each place in the program had which verdict.
struct HeatMapResult {
  struct Row {
    std::string point;  ///< "ohm:3f9c22d1"
    std::string op;
    std::string file;
    int line = 0;
    std::vector<std::int64_t> counts;  ///< as many as `columns`
  };
  std::string variant;
  std::vector<std::string> columns;  ///< "good", then the other verdicts that occur
  std::vector<Row> rows;             ///< in the order of the program
};

struct ScenarioResult {
  std::string name;  ///< the file's stem when it could not be loaded
  std::string summary;
  std::string file;
  std::vector<ParameterResult> parameters;  ///< in byte order of their names
  Verdict verdict = Verdict::skipped;
  std::optional<ErrorResult> error;       ///< why it could not be loaded
  std::vector<VariantResult> variants;    ///< those selected: problems first, in file order
  std::vector<VariantResult> references;  ///< run for their values alone, not judged
  std::vector<std::string> source;        ///< the lines of `file`; only beside histories
  std::vector<HeatMapResult> heat_maps;   ///< of a sweep, where one is shown as well
};

struct RunResult {
  ExitReason exit_reason = ExitReason::passed;
  std::vector<ScenarioResult> scenarios;
  std::optional<ShardResult> shard;  ///< absent: all of the run
};

}  // namespace ohm
