// Texts of unknown length, as much of them as can be shown.
#pragma once

#include <cstddef>
#include <string>

namespace ohm {

/// Of a message: more is not a message any more.
inline constexpr std::size_t kMostMessageBytes = 8192;

/// A text of more than `most_bytes` as its beginning, whole code points, and how much is left out,
/// in no more than those: "xxx… (95.36 MiB more)".
std::string cut_text(std::string text, std::size_t most_bytes = kMostMessageBytes);

}  // namespace ohm
