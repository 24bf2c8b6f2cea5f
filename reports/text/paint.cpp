#include "reports/text/paint.h"

#include <array>

namespace ohm::reports {

std::string painted(std::string_view text, Tone tone, bool color) {
  constexpr std::array<std::string_view, 6> kEscapes = {"",         "\x1b[32m", "\x1b[1;31m",
                                                        "\x1b[33m", "\x1b[2m",  "\x1b[1m"};
  const std::string_view escape = kEscapes[static_cast<std::size_t>(tone)];
  if (!color || escape.empty() || text.empty()) return std::string(text);
  return std::string(escape) + std::string(text) + "\x1b[0m";
}

}  // namespace ohm::reports
