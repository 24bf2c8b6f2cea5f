// Checks of options that several commands have, with the error for a value that makes no sense.
#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "harness/cli/command.h"
#include "harness/cli/option_parser.h"
#include "harness/run/run_options.h"

namespace ohm::cli {

/// Cores that this process may use.
int usable_cores();

/// Whole numbers from 0 on: the parser takes -1, and what is too large, for the largest there is.
OptionCheck not_negative();
OptionCheck not_empty();

/// Calls `parse`; what it finds wrong about an option is a usage error.
template <class Parse>
decltype(auto) parsed(const std::string& option, Parse&& parse) {
  try {
    return parse();
  } catch (const std::invalid_argument& error) {
    throw UsageError(option + ": " + error.what());
  }
}

/// Options that what is run knows nothing of are not passed over in silence: throws UsageError with
/// `reason` for one that was given and is not among `known`.
void refuse_options_but(std::span<const std::string_view> known, const OptionParser& parser,
                        std::string_view reason);

/// Checks rules and allocator settings. Without settings on the command line PyTorch's own
/// variables give them: the first one that is set; said aloud, for they change the figures.
void check_allocator_options(engine::RunOptions& run);

/// Throws UsageError when a value is set that none of the files declares, with the name that may
/// have been meant. Files that cannot be loaded are for the run to report.
void check_parameters_declared(const engine::RunOptions& run, const Environment& environment);

/// A case that no scenario has, with the name that may have been meant; empty: there is none, or a
/// scenario could not be loaded that might have had it.
std::string unknown_case(const engine::RunOptions& run, const Environment& environment);

/// Of several cases each has to be there, or a gate would go unnoticed: throws UsageError. One that
/// is not there selects nothing, which has a code of its own.
void check_cases_declared(const engine::RunOptions& run, const Environment& environment);

}  // namespace ohm::cli
