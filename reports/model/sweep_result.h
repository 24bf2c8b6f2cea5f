// The result of a sweep: what became of each injected failure. Reports are pure functions of it.
//
// Nothing here depends on the machine, the time, the number of jobs or the engine.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/model/exit_code.h"
#include "reports/model/run_result.h"
#include "reports/model/shard_result.h"
#include "reports/model/vocabulary.h"

namespace ohm {

/// What became of one injected failure. Only the first two are good.
enum class FaultVerdict : std::uint8_t {
  clean_error,          ///< it surfaced as out of memory, and nothing was lost
  recovered_same,       ///< the program went on; its results are those of the undisturbed run
  recovered_different,  ///< it did the work again, with other results
  swallowed,            ///< it went on as if nothing had happened, and the work is missing
  wrong_error,          ///< it ended with another error
  leak,                 ///< memory is held that the undisturbed run does not hold
  corrupt,              ///< an invariant broke, a mode was left on, or its objects cannot be used
  crash,                ///< the process ended
  hang,                 ///< no progress
  nondeterministic,     ///< equal runs make different requests
  not_reached,          ///< the request that was to fail was never made
};

struct FaultVerdictName {
  std::string_view name;
  bool is_good;
};

/// Indexed by FaultVerdict.
inline constexpr std::array<FaultVerdictName, 11> kFaultVerdicts = {{
    {"clean_error", true},
    {"recovered_same", true},
    {"recovered_different", false},
    {"swallowed", false},
    {"wrong_error", false},
    {"leak", false},
    {"corrupt", false},
    {"crash", false},
    {"hang", false},
    {"nondeterministic", false},
    {"not_reached", false},
}};

constexpr std::string_view name_of(FaultVerdict verdict) {
  return kFaultVerdicts[static_cast<std::size_t>(verdict)].name;
}
constexpr bool is_good(FaultVerdict verdict) {
  return kFaultVerdicts[static_cast<std::size_t>(verdict)].is_good;
}

/// Whether a failure fires once or for good.
enum class FaultForm : std::uint8_t { transient, persistent };

inline constexpr std::array<std::string_view, 2> kFaultFormNames = {"transient", "persistent"};

constexpr std::string_view name_of(FaultForm form) {
  return kFaultFormNames[static_cast<std::size_t>(form)];
}

/// A place in the program at which memory is asked for.
struct SweepPoint {
  std::string point;   ///< "ohm:3f9c22d1"
  std::string level;   ///< "request", "segment", …
  std::string device;  ///< "cuda:0", "cpu"
  Category category = Category::other;
  std::string op;
  std::string file;
  int line = 0;
  std::vector<std::string> stack;  ///< "file:line" of the program's frames, the outermost first
  std::int64_t passes = 0;         ///< how often the undisturbed run passes it
  std::int64_t faults = 0;         ///< that were injected here
  std::int64_t unhandled = 0;      ///< of these, those that nobody in the program caught
};

/// An injected failure whose verdict is not good.
struct FailedFault {
  std::string plan;  ///< as --fault takes it: "ohm:3f9c22d1@1"
  FaultForm form = FaultForm::transient;
  FaultVerdict verdict = FaultVerdict::clean_error;
  std::string what;       ///< one sentence: what was found
  std::int64_t call = 0;  ///< which of the undisturbed run's calls, from 1
  std::string op;         ///< of the request
  std::string file;
  int line = 0;
  std::int64_t bytes = 0;
  std::string waived;  ///< the reason; empty: not waived
  std::string rerun;   ///< the command that repeats it
};

struct SweptVariant {
  std::string name;
  Role role = Role::mitigation;
  std::string of;  ///< the problem that it mitigates; empty: none
  int line = 0;
  std::optional<ErrorResult> error;  ///< why it could not be swept
  bool values = true;                ///< false: recovery is judged by the events that follow it
  std::int64_t calls = 0;            ///< that the undisturbed run makes at the level that is swept
  std::int64_t faults = 0;           ///< injected
  std::int64_t benign = 0;           ///< survived by design: nobody above the allocator saw them
  std::int64_t handled = 0;          ///< caught by the program
  std::array<std::int64_t, kFaultVerdicts.size()> verdicts = {};  ///< indexed by FaultVerdict
  std::int64_t peak_bytes = 0;               ///< allocated on one GPU without a fault
  std::int64_t peak_after_faults_bytes = 0;  ///< the largest of the runs that went on
  std::int64_t repeated_calls = 0;  ///< that those made more than the undisturbed run, together
  std::int64_t waived = 0;
  std::int64_t untested = 0;        ///< were to be injected too, when the sweep was interrupted
  std::vector<SweepPoint> points;   ///< in the order in which they are first passed
  std::vector<FailedFault> failed;  ///< in the order of the calls; transient before persistent
};

inline bool is_waived(const FailedFault& failed) { return !failed.waived.empty(); }

/// Swept to the end, and every verdict that is not good is waived.
inline bool is_clean(const SweptVariant& variant) {
  return !variant.error && variant.untested == 0 &&
         std::all_of(variant.failed.begin(), variant.failed.end(), is_waived);
}

struct SweptScenario {
  std::string name;
  std::string file;
  std::optional<ErrorResult> error;  ///< why it could not be loaded
  std::vector<SweptVariant> variants;
};

inline bool is_clean(const SweptScenario& scenario) {
  return !scenario.error &&
         std::all_of(scenario.variants.begin(), scenario.variants.end(),
                     [](const SweptVariant& variant) { return is_clean(variant); });
}

struct SweepResult {
  ExitReason exit_reason = ExitReason::passed;
  std::optional<ShardResult> shard;  ///< absent: all of the sweep
  std::string points;                ///< as asked for: "all", "unique", "sample=100"
  std::string form;                  ///< "transient", "persistent", "both"
  std::string level;                 ///< "request", …
  bool host = false;                 ///< host memory's requests too
  std::int64_t depth = 1;            ///< faults in a chain
  std::vector<SweptScenario> scenarios;
};

}  // namespace ohm
