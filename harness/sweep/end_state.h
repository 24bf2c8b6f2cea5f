// The state in which a program ends: that of a run with a failure is compared with the fault-free
// one.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "harness/machine/machine.h"
#include "harness/scenario/scenario_program.h"
#include "harness/sweep/call_recorder.h"
#include "harness/sweep/program_settings.h"

namespace ohm::engine {

/// A MemoryBySiteName, the host's too.
using EndMemory = std::vector<std::pair<std::string, SiteBytes>>;

struct EndState {
  std::vector<std::string> modes;           ///< that are on, in words
  std::vector<std::int64_t> memory_limits;  ///< of each GPU; the largest number where there is none
  ProgramSettings settings;
  EndMemory memory;
};

// All after ScenarioProgram::let_go().
EndMemory memory_at_end(Machine& machine);
EndState end_state(Machine& machine, ScenarioProgram& program);

// What the failure is to blame for, as the sentence of a verdict; empty where there is nothing.
// What the fault-free run leaves too is the program's way.

/// Modes and settings that are on.
std::string left_behind(const EndState& now, const EndState& fault_free);
/// What more modules are switched to.
std::string left_behind(const ModuleCounts& now, const ModuleCounts& fault_free);
/// Of each device and category no more may be alive than the fault-free run leaves: objects that a
/// program replaces have another line, and the same bytes.
std::string leaked(const EndMemory& now, const EndMemory& fault_free);

/// Equal numbers are equal settings: what a program chooses, and may choose once more when memory
/// runs out.
std::uint64_t settings_key(Machine& machine);

}  // namespace ohm::engine
