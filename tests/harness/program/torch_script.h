// Python programs for the stand-in for PyTorch, tests/harness/support/stand_in_torch.
#pragma once

#include <string>

namespace ohm::test {

/// After two lines that find the stand-in.
inline std::string torch_script(const std::string& body) {
  return "import sys; sys.path.insert(0, '" OHM_STAND_IN_TORCH "')\nimport torch\n" + body;
}

}  // namespace ohm::test
