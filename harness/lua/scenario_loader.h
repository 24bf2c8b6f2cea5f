// Scenarios written in Lua, as the engine runs them.
#pragma once

#include <memory>

#include "harness/scenario/scenario_program.h"

namespace ohm::lua {

/// Runs the file once: it has to return what ohm.scenario{…} gave it. Throws engine::ScriptError.
/// The program runs against the ohm::Context of the thread, which outlives it. Of what a script
/// does, only the functions of variants see GPUs: run() passes them "cuda:0", or "cpu" where there
/// is no GPU.
std::unique_ptr<engine::ScenarioProgram> load_scenario(const engine::LoadRequest& request);

}  // namespace ohm::lua
