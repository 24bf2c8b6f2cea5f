// The name of a file: of its path, what follows the last slash, or on Windows the last backslash.
#pragma once

#include <string_view>

namespace ohm {

/// A part of `path`, which it does not outlive.
constexpr std::string_view base_name(std::string_view path) {
  const bool is_of_windows = path.size() > 2 && (path[1] == ':' || path.starts_with("\\\\"));
  // Without a slash: all of it.
  return path.substr((is_of_windows ? path.find_last_of("/\\") : path.rfind('/')) + 1);
}

}  // namespace ohm
