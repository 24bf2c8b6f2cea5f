// Settings that a program makes for the whole process, beside its modes: what a recovery changes it
// has to set back.
#pragma once

#include <string>
#include <vector>

#include "harness/machine/machine.h"

namespace ohm::engine {

struct ProgramSetting {
  std::string name;   ///< "flash attention"
  std::string value;  ///< in words; equal words are equal settings

  friend bool operator==(const ProgramSetting&, const ProgramSetting&) = default;
};

/// Of one machine always the same ones, in the same order.
using ProgramSettings = std::vector<ProgramSetting>;

/// The attention kernels that may be used, cuDNN's switches, the settings of each GPU's allocator,
/// and the memory history.
ProgramSettings program_settings(Machine& machine);

/// What of `now` a failure is to blame for, as the sentence of a verdict; empty where there is
/// nothing. That is what differs from the end of the fault-free run, except for what the program
/// has not set yet: it is as it was at the start and when the request failed.
std::string left_changed(const ProgramSettings& now, const ProgramSettings& fault_free,
                         const ProgramSettings& at_start, const ProgramSettings& at_failure);

}  // namespace ohm::engine
