// The documents of the project: where they are.
#pragma once

#include <string>
#include <vector>

namespace ohm::docs {

/// Of a file of the sources, as in "docs/sweeps.md".
std::string source_path(const std::string& file);

/// README.md and all of docs/.
std::vector<std::string> documents_with_commands();

}  // namespace ohm::docs
