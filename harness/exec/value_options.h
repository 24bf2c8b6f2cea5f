// How a command on virtual GPUs treats values that kernels would have computed; harness/record does
// it, in each Python process of the command.
#pragma once

#include <string>

#include "harness/exec/child_command.h"

namespace ohm::engine {

struct ValueOptions {
  /// The share of rows that a mask of unknown values selects, from 0 to 1, or "max"; empty: nothing
  /// is assumed.
  std::string assumed_selection;
  /// "none", "known" or "cpu"; empty: not asked for, which is "known".
  std::string values;

  bool are_computed() const { return values == "cpu"; }
  bool are_default() const { return assumed_selection.empty() && values.empty(); }
  /// On a command line: " --assume-selected max --values cpu".
  std::string words() const;
};

/// Throws std::invalid_argument for anything but a share from 0 to 1, or "max".
void check_assumed_selection(const std::string& text);

/// Sets the variables that harness/record reads: OHM_ASSUME_SELECTED and OHM_VALUES, each where it
/// was asked for.
void add_values(ChildCommand& command, const ValueOptions& options);

}  // namespace ohm::engine
