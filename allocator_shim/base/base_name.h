// The name of a file: of its path, what follows the last slash.
#pragma once

#include <string_view>

namespace ohm {

/// A part of `path`, which it does not outlive.
constexpr std::string_view base_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);  // without a slash: all of it
}

}  // namespace ohm
