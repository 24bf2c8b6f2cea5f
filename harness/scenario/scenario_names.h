// Scenarios by name: those of ./scenarios, and those that come with the program. A name is the stem
// of the file.
#pragma once

#include <string>
#include <vector>

namespace ohm::engine {

/// The scenarios of a command line that names none: scenarios/*.lua of the current folder, or those
/// that come with the program; sorted, maybe none.
std::vector<std::string> default_scenario_files();

/// All names that scenario_file() knows; sorted.
std::vector<std::string> scenario_names();

/// The file of a scenario: `text` itself where there is such a file, and where it is a path or no
/// known name; otherwise the scenario of that name, of ./scenarios before the program's.
std::string scenario_file(const std::string& text);

/// The name that may have been meant by `name`: the nearest, or the first one that contains it;
/// empty: none is like it.
std::string similar_scenario(const std::string& name);

/// Whether it may be a name: no slash, no ending.
bool is_scenario_name(const std::string& text);

}  // namespace ohm::engine
