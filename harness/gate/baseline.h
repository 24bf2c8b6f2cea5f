// Baselines: what the variants of a scenario allocated, returned and were held to when they were
// last approved, in a text file beside the scenario. A figure that grows is a regression, by one
// unit of 512 bytes already, and so is another value or another limit.
//
// The file is sorted, its figures are exact, and it has no line numbers: lines are told by their
// text, so that code that moves changes nothing.
#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "allocator_shim/base/input_file.h"
#include "reports/model/run_result.h"

namespace ohm::engine {

/// The first line of the file: what a reader of another version cannot read.
inline constexpr std::string_view kBaselineFormat = "ohm.baseline/2";

/// A baseline that cannot be read. The message names the line.
class BaselineError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One variant: the figures that are compared, and what they were measured on.
struct BaselineVariant {
  std::string machine;  ///< GPUs, allocator rules and settings, seed; equal or incomparable
  VariantResult figures;
};

struct Baseline {
  std::string source;  ///< source_digest() of the scenario then; empty: not known
  std::map<std::string, BaselineVariant> variants;  ///< by name
};

/// "scenarios/x.lua" -> "scenarios/x.baseline".
std::string baseline_path(const std::string& scenario_file);

/// Tells whether the text of a scenario is another one; empty of what is no scenario, or cannot be
/// read.
std::string source_digest(const std::string& scenario_file);

/// "scenarios/x.lua has changed since its baseline was made; ohm baseline update scenarios/x.lua
/// approves what it does now"; empty where it has not, or nobody knows.
std::string source_change(const Baseline& baseline, const std::string& scenario_file);

/// Of the variants that ran to an end of their own. Their peaks must have been recorded.
Baseline baseline_of(const ScenarioResult& scenario, std::uint64_t seed);

std::string baseline_text(const Baseline& baseline, const std::string& scenario_file);
/// `path` is the baseline's or its scenario's: files are told from its folder. Throws
/// BaselineError.
Baseline parse_baseline(std::string_view text, const std::string& path);
/// The same, with the path before the message. Throws BaselineError also for what cannot be read.
Baseline read_baseline(const std::string& path);
/// Of a file that is open: `path` is for messages, and for the folder that places are named from.
Baseline read_baseline(InputFile& file, const std::string& path);

}  // namespace ohm::engine
