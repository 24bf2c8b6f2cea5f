// The library's lines behind one line of the program's own, which several of them share: a whole
// model is called in one line of a script.
#pragma once

#include <string>
#include <vector>

#include "allocator_shim/observe/stack_table.h"
#include "reports/text/user_files.h"

namespace ohm::reports {

/// A request behind that line.
struct LibraryCall {
  StackId stack = kNoStack;
  std::string op;
};

/// Of each call the innermost line that tells it from others of its op, a package's before
/// PyTorch's own, as in "transformers/models/llama/modeling_llama.py:216 forward"; where nothing
/// tells them apart, the innermost one that is not PyTorch's. Empty: there is none, or all of the
/// calls come by the same lines.
std::vector<std::string> library_lines(const StackTable& tables, const UserFiles& files,
                                       const std::vector<LibraryCall>& calls);

}  // namespace ohm::reports
