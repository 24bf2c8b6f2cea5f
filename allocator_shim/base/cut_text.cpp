#include "allocator_shim/base/cut_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "allocator_shim/base/format_bytes.h"

namespace ohm {

std::string cut_text(std::string text, std::size_t most_bytes) {
  if (text.size() <= most_bytes) return text;
  // With what is said about the rest it is no longer than it may be, and stays when it is cut
  // again.
  constexpr std::size_t kTail = 40;
  std::size_t end = most_bytes - std::min(most_bytes, kTail);
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; };
  while (end > 0 && continues(text[end])) --end;
  const std::size_t left_out = text.size() - end;
  text.resize(end);
  return text + fmt::format("… ({} more)", human_bytes(left_out));
}

}  // namespace ohm
