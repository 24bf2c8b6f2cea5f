// Files of libraries, told from those of the user by their paths.
#pragma once

#include <string>
#include <string_view>

namespace ohm::reports {

/// Whether this Python file was installed: PyTorch's, another package's, Python's own; or there is
/// none ("<frozen runpy>"). A record can have names without folders; then those of PyTorch that
/// stand on stacks are known. Paths of Windows are read, too.
bool is_library_file(std::string_view path);

/// Whether this file of a library is PyTorch's own.
bool is_pytorch_file(std::string_view path);

/// The path of a library's file from where it was installed: "torch/nn/functional.py".
std::string installed_path(std::string_view path);

/// Whether calls of all kinds go through functions of this name: it says nothing of what they do.
bool passes_calls_on(std::string_view function);

/// Whether people write such files: Python, or a scenario. Native frames have others.
bool is_source_file(std::string_view path);

}  // namespace ohm::reports
