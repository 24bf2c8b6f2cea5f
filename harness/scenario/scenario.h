// A scenario as its file describes it: problems, what is said to help, and the limits.
//
// Plain data, filled by the reader of the file; validated() then checks it as a whole and fills in
// what was left to its default.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/scenario/returned_value.h"
#include "reports/model/vocabulary.h"

namespace ohm::engine {

/// The virtual GPUs of a scenario, all of one kind.
struct GpuSpec {
  std::string profile = "tiny-64m";           ///< a name of the profile table
  std::optional<std::size_t> capacity_bytes;  ///< instead of the profile's
  int count = 1;
  bool values = true;  ///< false: size-only, no arithmetic is done
  /// Allocator settings in PYTORCH_CUDA_ALLOC_CONF's spelling; absent: the run's, or none.
  std::optional<std::string> alloc_conf;
  std::string rules;  ///< which PyTorch's allocator; empty: the run's, or the default
};

/// A number that a scenario declares with ohm.params{name = value}, or with a table {default =
/// value, min = …, max = …, summary = …}, so that it can be set from outside: a batch, a width.
/// Variants and limits are functions of it.
struct ScenarioParameter {
  std::string name;
  double value = 0;             ///< in force
  double default_value = 0;     ///< as the scenario has it
  bool is_integer = true;       ///< of the default: other values then have to be integers too
  std::optional<double> least;  ///< values below are refused
  std::optional<double> most;   ///< and values above
  std::string summary;          ///< what it is, in a few words; may be empty
};

/// Values by name, as in `ohm run --set batch=64`.
using ParameterValues = std::map<std::string, double>;

/// A verdict of a sweep that is accepted, for a reason.
struct Waiver {
  std::string point;    ///< "ohm:3f9c", "ohm:3f9c@2"; empty: every point
  std::string verdict;  ///< "recovered_different", …
  std::string reason;
};

/// What a non-fix may name in must_break beside measurements: it runs out of memory.
inline constexpr std::string_view kOomWord = "oom";

/// One named run. `line` is where the variant's table entry or function stands in the file.
struct VariantDescription {
  std::string name;
  Role role = Role::problem;
  int line = 0;                         ///< 1-based; 0 when unknown
  std::string of;                       ///< the problem it belongs to; empty: the only one
  std::string trades;                   ///< what it changes by its nature; empty: nothing
  std::vector<std::string> must_agree;  ///< with `trades`: what must still be equal
  /// Of a non-fix, how it fails: measurements of limits that it breaks, or "oom". With neither this
  /// nor must_differ, as its problem does.
  std::vector<std::string> must_break;
  std::vector<std::string> must_differ;   ///< of a non-fix: values that it computes wrongly
  std::string compare_as;                 ///< dtype whose tolerance counts; empty: the values' own
  std::string reference;                  ///< instead of the scenario's; empty: the scenario's
  std::optional<std::string> raises;      ///< a part of the message of the error it must end with
  std::optional<ReturnedValues> returns;  ///< of a check: what it has to return
  std::vector<std::string>
      limits;                  ///< besides the scenario's and its problem's; a check has only these
  std::string fault;           ///< a fault plan, e.g. "nth(7)"; empty: none
  std::optional<GpuSpec> gpu;  ///< instead of the scenario's
  std::vector<Waiver> waivers;  ///< of sweeps
};

struct ScenarioDescription {
  std::string name;
  std::string summary;
  std::string file;  ///< as given on the command line
  int line = 0;      ///< of the call of ohm.scenario
  GpuSpec gpu;
  std::vector<ScenarioParameter> parameters;  ///< in byte order of their names
  std::vector<std::string> limits;
  std::string reference;  ///< variant whose values are right; empty: the problem's own are
  std::vector<VariantDescription> variants;
  /// Places in `variants`, in byte order of the names there; validated() fills it.
  std::vector<std::size_t> variants_by_name;
};

}  // namespace ohm::engine
