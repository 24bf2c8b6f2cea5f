#include "allocator_shim/observe/utf8.h"

namespace ohm {

namespace {

std::size_t announced_bytes(unsigned char lead) {
  if (lead < 0x80U) return 1;
  if (lead < 0xC2U || lead >= 0xF5U) return 0;
  return lead < 0xE0U ? 2 : lead < 0xF0U ? 3 : 4;
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

}  // namespace ohm
