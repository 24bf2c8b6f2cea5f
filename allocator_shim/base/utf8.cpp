#include "allocator_shim/base/utf8.h"

#include <cstdint>
#include <cstring>

namespace ohm {

namespace {

std::size_t announced_bytes(unsigned char lead) {
  if (lead < 0x80U) return 1;
  if (lead < 0xC2U || lead >= 0xF5U) return 0;
  return lead < 0xE0U ? 2 : lead < 0xF0U ? 3 : 4;
}

/// How many bytes of ASCII `text` begins with, rounded down to whole words.
std::size_t ascii_prefix(std::string_view text) {
  std::size_t i = 0;
  for (std::uint64_t word = 0; i + sizeof word <= text.size(); i += sizeof word) {
    std::memcpy(&word, text.data() + i, sizeof word);
    if ((word & 0x8080808080808080U) != 0) break;
  }
  return i;
}

}  // namespace

std::size_t utf8_sequence_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (text.empty()) return 0;
  const unsigned char lead = byte(0);
  const std::size_t length = announced_bytes(lead);
  if (length <= 1) return length;
  if (length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return 0;
  }
  const unsigned char second = byte(1);
  const bool overlong = (lead == 0xE0U && second < 0xA0U) || (lead == 0xF0U && second < 0x90U);
  const bool surrogate = lead == 0xEDU && second >= 0xA0U;
  const bool beyond = lead == 0xF4U && second >= 0x90U;
  return overlong || surrogate || beyond ? 0 : length;
}

std::optional<std::size_t> first_invalid_utf8(std::string_view text) {
  for (std::size_t i = ascii_prefix(text); i < text.size();) {
    const std::size_t length = utf8_sequence_bytes(text.substr(i));
    if (length == 0) return i;
    i += length;
  }
  return std::nullopt;
}

std::string valid_utf8(std::string_view text) {
  std::string out;
  while (const auto invalid = first_invalid_utf8(text)) {
    out.append(text.substr(0, *invalid)).append("\xEF\xBF\xBD");
    text.remove_prefix(*invalid + 1);
  }
  return out.append(text);
}

}  // namespace ohm
