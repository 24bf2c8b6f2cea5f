// The versions of NVIDIA's libraries that an installed PyTorch asks for, by what its wheel says.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace ohm::interpose {

/// Major, minor and patch.
using LibraryVersion = std::array<int, 3>;

/// Of the line of a wheel's METADATA that requires cuDNN ("Requires-Dist: nvidia-cudnn-cu12
/// (==9.1.0.70)"); nullopt: none does.
std::optional<LibraryVersion> required_cudnn(std::string_view metadata);

/// The same of the PyTorch that this process has loaded; nullopt: it has none, or one that was not
/// installed from a wheel. Looked for once.
std::optional<LibraryVersion> cudnn_of_loaded_torch();

}  // namespace ohm::interpose
