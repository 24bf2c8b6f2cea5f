// Colour for terminals, by meaning.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ohm::reports {

enum class Tone : unsigned char { plain, good, bad, warning, faint, strong };

/// The text between the escape sequences of its tone, or as it is without colour.
std::string painted(std::string_view text, Tone tone, bool color);

}  // namespace ohm::reports
