// The files of a scenario, read once, so that all of a run sees one version of each.
#pragma once

#include <string>

#include "harness/scenario/scenario_program.h"

namespace ohm::engine {

struct ScriptSources {
  std::string script;
  ModuleTexts modules;  ///< that the script, and they, name as in require("nets")
};

/// Throws as read_source_file() for the script. A module that cannot be read is left out: the
/// script that requires it is told why.
ScriptSources read_script_sources(const std::string& path);

}  // namespace ohm::engine
