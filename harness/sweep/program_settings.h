// Settings that a program makes for the whole process, beside its modes: what a recovery changes it
// has to set back.
#pragma once

#include <string>

#include "harness/machine/machine.h"
#include "harness/scenario/scenario_program.h"

namespace ohm::engine {

/// The attention kernels that may be used, cuDNN's switches, the settings of each GPU's allocator,
/// the memory history, and what the script has of its own.
ProgramSettings program_settings(Machine& machine, ScenarioProgram& program);

/// What of `now` a failure is to blame for, as the sentence of a verdict; empty where there is
/// nothing. That is what differs from the end of the fault-free run, except for what the program
/// has not set yet: it is as it was at the start and when the request failed.
std::string left_changed(const ProgramSettings& now, const ProgramSettings& fault_free,
                         const ProgramSettings& at_start, const ProgramSettings& at_failure);

}  // namespace ohm::engine
