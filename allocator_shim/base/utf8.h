// UTF-8, byte by byte: for texts that come from outside.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace ohm {

/// Bytes of the well-formed code point that `text` begins with: 1 to 4; 0 when it is malformed
/// (stray or missing continuation, overlong, surrogate, beyond U+10FFFF) or the text is empty.
std::size_t utf8_sequence_bytes(std::string_view text);

/// Offset of the first byte that does not belong to a well-formed code point.
std::optional<std::size_t> first_invalid_utf8(std::string_view text);

/// The text with U+FFFD in the place of every such byte.
std::string valid_utf8(std::string_view text);

}  // namespace ohm
