// Files of libraries, told from those of the user by their paths.
#pragma once

#include <string_view>

namespace ohm::reports {

/// Whether this Python file was installed: PyTorch's, another package's, Python's own. A record can
/// have names without folders; then those of PyTorch that stand on stacks are known.
bool is_library_file(std::string_view path);

}  // namespace ohm::reports
