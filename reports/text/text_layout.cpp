#include "reports/text/text_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "allocator_shim/base/utf8.h"

namespace ohm::reports {

namespace {

bool starts_code_point(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; }

/// What a terminal would obey: C0 but line ends, DEL, and C1, which UTF-8 spells C2 80 to C2 9F.
bool is_control(std::string_view sequence) {
  const auto first = static_cast<unsigned char>(sequence.front());
  if (sequence.size() == 1) return first != '\n' && (first < 0x20U || first == 0x7FU);
  return sequence.size() == 2 && first == 0xC2U && static_cast<unsigned char>(sequence[1]) < 0xA0U;
}

char32_t code_point(std::string_view sequence) {
  const auto first = static_cast<unsigned char>(sequence.front());
  if (sequence.size() == 1) return first;
  char32_t code = first & (0xFFU >> (sequence.size() + 1));
  for (const char c : sequence.substr(1))
    code = (code << 6U) | (static_cast<unsigned char>(c) & 0x3FU);
  return code;
}

/// What makes text look like another one: marks of direction, separators of lines, and what has no
/// width.
bool is_deceptive(char32_t code) {
  struct Range {
    char32_t first;
    char32_t last;
  };
  constexpr std::array kRanges = {
      Range{0x061C, 0x061C}, Range{0x200B, 0x200B}, Range{0x200E, 0x200F},  Range{0x2028, 0x202E},
      Range{0x2060, 0x206F}, Range{0xFEFF, 0xFEFF}, Range{0xE0000, 0xE007F}};
  return std::any_of(kRanges.begin(), kRanges.end(), [code](const Range& range) {
    return range.first <= code && code <= range.last;
  });
}

/// Bytes of the first `columns` code points.
std::size_t prefix_bytes(std::string_view text, std::size_t columns) {
  std::size_t seen = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (starts_code_point(text[i]) && seen++ == columns) return i;
  }
  return text.size();
}

/// Where the line that starts `text` ends: at a blank, or in a word that is longer than a line. An
/// address stays whole: what is broken cannot be followed.
std::size_t line_bytes(std::string_view text, std::size_t width) {
  const std::size_t most = prefix_bytes(text, width);
  if (most == text.size() || text[most] == ' ') return most;
  const std::size_t blank = text.rfind(' ', most);
  if (blank != std::string_view::npos && blank != 0) return blank;
  const std::string_view word = text.substr(0, text.find(' '));
  return word.find("://") == std::string_view::npos ? most : word.size();
}

void wrap_line(std::string_view text, std::size_t width, std::vector<std::string>& lines) {
  do {
    const std::size_t bytes = line_bytes(text, width);
    const std::string_view line = text.substr(0, bytes);
    const std::size_t last = line.find_last_not_of(' ');
    lines.emplace_back(line.substr(0, last == std::string_view::npos ? 0 : last + 1));
    text.remove_prefix(bytes);
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  } while (!text.empty());
}

}  // namespace

std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), starts_code_point));
}

std::string pad_right(std::string_view text, std::size_t width) {
  const std::size_t used = display_width(text);
  return std::string(text) + std::string(used < width ? width - used : 0, ' ');
}

std::string pad_left(std::string_view text, std::size_t width) {
  const std::size_t used = display_width(text);
  return std::string(used < width ? width - used : 0, ' ') + std::string(text);
}

std::string printable(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  std::string out;
  while (!text.empty()) {
    const std::size_t length = utf8_sequence_bytes(text);
    const std::string_view sequence = text.substr(0, std::max<std::size_t>(length, 1));
    if (sequence == "\t") {
      out += "  ";
    } else if (length == 0 || is_control(sequence)) {
      for (const char c : sequence) out += fmt::format("\\x{:02X}", static_cast<unsigned char>(c));
    } else if (is_deceptive(code_point(sequence))) {
      out += fmt::format("\\u{:04X}", static_cast<std::uint32_t>(code_point(sequence)));
    } else {
      out += sequence;
    }
    text.remove_prefix(sequence.size());
  }
  return out;
}

std::string shortened(std::string_view text, std::size_t width) {
  const std::size_t used = display_width(text);
  if (used <= width) return std::string(text);
  if (width < 3) return std::string(text.substr(0, prefix_bytes(text, width)));
  const std::size_t head = width / 2;
  const std::size_t tail = width - head - 1;
  return std::string(text.substr(0, prefix_bytes(text, head))) + "…" +
         std::string(text.substr(prefix_bytes(text, used - tail)));
}

std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  width = std::max<std::size_t>(width, 8);
  while (true) {
    const std::size_t end = text.find('\n');
    wrap_line(text.substr(0, end), width, lines);
    if (end == std::string_view::npos) return lines;
    text.remove_prefix(end + 1);
  }
}

std::string indented(std::string_view text, std::size_t indent, std::size_t columns) {
  std::string out;
  for (const std::string& line : wrapped(text, columns > indent ? columns - indent : 0)) {
    if (!line.empty()) out += std::string(indent, ' ') + line;
    out += '\n';
  }
  return out;
}

}  // namespace ohm::reports
