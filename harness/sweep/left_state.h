// What a program leaves when it has ended, for a run with a failure to be compared with the
// undisturbed one.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "harness/machine/machine.h"
#include "harness/scenario/scenario_program.h"
#include "harness/sweep/call_recorder.h"

namespace ohm::engine {

/// A MemoryByPlace, the host's too.
using LeftMemory = std::vector<std::pair<std::string, PlaceBytes>>;

struct LeftState {
  std::vector<std::string> modes;           ///< that are on, in words
  bool is_benchmark = false;                ///< cuDNN's mode
  std::vector<std::int64_t> memory_limits;  ///< of each GPU; the largest number where there is none
  LeftMemory memory;
};

// All after ScenarioProgram::let_go().
LeftMemory memory_left(Machine& machine);
LeftState state_left(Machine& machine);

// What the failure is to blame for, as the sentence of a verdict; empty where there is nothing.
// What the undisturbed run leaves too is the program's way.

/// Modes and settings that are on.
std::string left_behind(const LeftState& now, const LeftState& undisturbed);
/// What more modules are switched to.
std::string left_behind(const ModuleCounts& now, const ModuleCounts& undisturbed);
/// Of each device and category no more may be alive than the undisturbed run leaves: objects that a
/// program replaces have another line, and the same bytes.
std::string leaked(const LeftMemory& now, const LeftMemory& undisturbed);

/// Equal numbers are equal settings: what a program chooses, and may choose once more when memory
/// runs out.
std::uint64_t settings_key(Machine& machine);

}  // namespace ohm::engine
