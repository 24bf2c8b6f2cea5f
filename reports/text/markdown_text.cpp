#include "reports/text/markdown_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "reports/text/text_layout.h"

namespace ohm::reports {

namespace {

std::string one_line(std::string_view text) {
  std::string line = printable(text);
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line;
}

/// `least` backquotes, or more where the text has as many.
std::string fence_around(std::string_view text, std::size_t least) {
  std::string fence(least, '`');
  while (text.find(fence) != std::string_view::npos) fence += '`';
  return fence;
}

/// What an element, a comment or a link in angle brackets begins with behind its "<".
bool begins_html(char next) {
  return (next >= 'a' && next <= 'z') || (next >= 'A' && next <= 'Z') || next == '/' ||
         next == '!' || next == '?';
}

void append_escaped(std::string& out, std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '<' && i + 1 < text.size() && begins_html(text[i + 1])) {
      out += "&lt;";
    } else {
      out += text[i];
    }
  }
}

std::size_t run_length(std::string_view text, std::size_t at) {
  return std::min(text.find_first_not_of('`', at), text.size()) - at;
}

/// Where the next run of exactly so many backquotes begins.
std::size_t find_run(std::string_view text, std::size_t from, std::size_t length) {
  for (std::size_t at = text.find('`', from); at < text.size(); at = text.find('`', at)) {
    const std::size_t here = run_length(text, at);
    if (here == length) return at;
    at += here;
  }
  return std::string_view::npos;
}

// Note [Code in a line]
// In code "<" has to stay what it is, outside it must not begin an element. Code is believed to be
// code only where no reader can see it otherwise: within one line, of which all lines before in the
// paragraph have their backquotes in pairs, and without "|", which ends a cell before it ends code.
class LineWithoutHtml {
 public:
  /// `is_open`: a backquote before this line waits for its pair.
  bool append(std::string& out, std::string_view line, bool is_open) {
    while (!is_open && !line.empty()) {
      const std::size_t tick = find_tick(line);
      append_escaped(out, line.substr(0, tick));
      line.remove_prefix(tick);
      if (line.empty()) break;
      const std::size_t length = run_length(line, 0);
      const std::size_t end = find_run(line, length, length);
      if (end == std::string_view::npos) {
        is_open = true;
        break;
      }
      append_code(out, line.substr(0, end + length));
      line.remove_prefix(end + length);
    }
    append_escaped(out, line);
    return is_open;
  }

 private:
  /// The next backquote without a backslash before it; the end of the line when there is none.
  static std::size_t find_tick(std::string_view line) {
    for (std::size_t i = 0; i < line.size(); ++i) {
      if (line[i] == '\\') {
        ++i;
      } else if (line[i] == '`') {
        return i;
      }
    }
    return line.size();
  }

  static void append_code(std::string& out, std::string_view code) {
    if (code.find('|') == std::string_view::npos) {
      out += code;
    } else {
      append_escaped(out, code);
    }
  }
};

}  // namespace

std::string markdown(std::string_view text) {
  constexpr std::string_view kMarkup = "\\`*_[]|~>";
  std::string out;
  for (const char c : one_line(text)) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '&') {
      out += "&amp;";
    } else {
      if (kMarkup.find(c) != std::string_view::npos) out += '\\';
      out += c;
    }
  }
  return out;
}

std::string markdown_code(std::string_view text) {
  const std::string line = one_line(text);
  const std::string fence = fence_around(line, 1);
  return fmt::format("{0}{1}{2}{1}{0}", fence, fence.size() > 1 ? " " : "", line);
}

std::string markdown_block(std::string_view language, std::string_view code) {
  const std::string text = printable(code);
  const std::string fence = fence_around(text, 3);
  return fmt::format("{0}{1}\n{2}\n{0}\n", fence, language, text);
}

std::string without_html(std::string_view text) {
  const std::string shown = printable(text);
  std::string out;
  bool is_open = false;
  for (std::string_view rest = shown;; out += '\n') {
    const std::size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    const bool is_blank = line.find_first_not_of(" \t") == std::string_view::npos;
    is_open = !is_blank && LineWithoutHtml().append(out, line, is_open);
    if (end == std::string_view::npos) return out;
    rest.remove_prefix(end + 1);
  }
}

}  // namespace ohm::reports
