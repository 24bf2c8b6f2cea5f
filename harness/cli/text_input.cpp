#include "harness/cli/text_input.h"

#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <system_error>
#include <utility>

#include "harness/cli/command.h"

namespace ohm::cli {

namespace {

constexpr std::size_t kMaxBytes = std::size_t{16} << 20U;

void append_utf8(std::string& out, char32_t letter) {
  const auto part = [](char32_t bits) { return static_cast<char>(0x80U | (bits & 0x3FU)); };
  if (letter < 0x80) {
    out += static_cast<char>(letter);
  } else if (letter < 0x800) {
    out += {static_cast<char>(0xC0U | letter >> 6U), part(letter)};
  } else if (letter < 0x10000) {
    out += {static_cast<char>(0xE0U | letter >> 12U), part(letter >> 6U), part(letter)};
  } else {
    out += {static_cast<char>(0xF0U | letter >> 18U), part(letter >> 12U), part(letter >> 6U),
            part(letter)};
  }
}

/// Text in UTF-16 begins with a mark, as what the shell of Windows writes with > does.
std::string from_utf16(std::string text) {
  const bool is_little = text.starts_with("\xFF\xFE");
  if (!is_little && !text.starts_with("\xFE\xFF")) return text;
  const auto unit_at = [&](std::size_t at) -> char32_t {
    const auto byte = [&](std::size_t i) -> char32_t {
      return static_cast<unsigned char>(text[at + i]);
    };
    return is_little ? byte(0) | byte(1) << 8U : byte(1) | byte(0) << 8U;
  };
  constexpr char32_t kUnknown = 0xFFFD;
  std::string out;
  for (std::size_t at = 2; at + 1 < text.size(); at += 2) {
    char32_t letter = unit_at(at);
    const bool is_first_half = letter >= 0xD800 && letter < 0xDC00 && at + 3 < text.size();
    const char32_t second = is_first_half ? unit_at(at + 2) : 0;
    if (second >= 0xDC00 && second < 0xE000) {
      letter = 0x10000 + ((letter - 0xD800) << 10U) + (second - 0xDC00);
      at += 2;
    } else if (letter >= 0xD800 && letter < 0xE000) {
      letter = kUnknown;
    }
    append_utf8(out, letter);
  }
  return out;
}

/// Keeps the end: an even number of bytes goes, and the mark of the encoding stays.
void drop_beginning(std::string& text) {
  if (text.size() <= kMaxBytes) return;
  constexpr std::size_t kMarkBytes = 2;
  const std::size_t dropped = (text.size() - kMaxBytes) & ~std::size_t{1};
  text.erase(kMarkBytes, dropped);
}

std::string read_all(std::istream& stream) {
  std::string text;
  std::string piece(std::size_t{64} << 10U, '\0');
  while (stream) {
    stream.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    text.append(piece, 0, static_cast<std::size_t>(stream.gcount()));
    if (text.size() > 2 * kMaxBytes) drop_beginning(text);
  }
  drop_beginning(text);
  return from_utf16(std::move(text));
}

}  // namespace

bool is_stdin(const std::string& path) { return path.empty() || path == "-"; }

std::string read_text_input(const std::string& path, const std::string& option) {
  if (is_stdin(path)) return read_all(std::cin);
  const std::string prefix = option.empty() ? "" : option + ": ";
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    throw UsageError(prefix + path + " is a directory");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    const std::error_code reason(errno, std::generic_category());
    throw UsageError(prefix + "cannot read " + path + ": " + reason.message());
  }
  return read_all(file);
}

}  // namespace ohm::cli
