// The default scenarios, for a command line that names none.
#pragma once

#include <string>
#include <vector>

namespace ohm::cli {

/// scenarios/*.lua of the current folder, else those installed with the program; sorted, maybe
/// none.
std::vector<std::string> default_scenario_files();

}  // namespace ohm::cli
