#include "reports/text/log_text.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <regex>
#include <string_view>
#include <utility>

namespace ohm::reports {

namespace {

constexpr char kEscape = '\x1B';

/// Where an escape sequence of a terminal ends that begins at `at`.
std::size_t end_of_escape(std::string_view text, std::size_t at) {
  const bool is_command = at + 1 < text.size() && text[at + 1] == '[';
  if (!is_command) return at + 1;
  std::size_t end = at + 2;
  while (end < text.size() && (text[end] < '@' || text[end] > '~')) ++end;
  return std::min(end + 1, text.size());
}

/// Where a colour ends whose escape character was lost, or is written out: "[1;31m", "^[[0m";
/// `at`: there is none.
std::size_t end_of_colour(std::string_view text, std::size_t at) {
  std::size_t next = at;
  for (const std::string_view escape : {"^[", "#033", "\\033", "\\x1b", "\\x1B", "\\e", "␛"}) {
    if (text.substr(at).starts_with(escape)) next = at + escape.size();
  }
  if (next >= text.size() || text[next] != '[') return at;
  const std::size_t end = text.find_first_not_of("0123456789;", next + 1);
  const bool is_colour = end != std::string_view::npos && text[end] == 'm' && end - next <= 20;
  return is_colour ? end + 1 : at;
}

std::string without_escapes(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == kEscape) {
      i = end_of_escape(text, i);
    } else if (const std::size_t end = end_of_colour(text, i); end > i) {
      i = end;
    } else {
      if (text[i] != '\r') out += text[i];
      ++i;
    }
  }
  return out;
}

/// A line of JSON has the lines of its program as "\n".
std::string with_lines_of_json(std::string_view line) {
  std::string out;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char next = i + 1 < line.size() ? line[i + 1] : '\0';
    if (line[i] != '\\' || next == '\0') {
      out += line[i];
      continue;
    }
    ++i;
    if (next == 'u' && line.substr(i).starts_with("u001b")) {
      out += kEscape;
      i += 4;
    } else {
      out += next == 'n' ? '\n' : next == 't' ? ' ' : next;
    }
  }
  return out;
}

/// What stands before a line, one of them at a time.
const std::regex& prefix_pattern() {
  static const std::regex pattern(
      R"(\s*(?:)"
      R"(\[[^\]]{1,80}\](?!\(http)(?:<std(?:err|out)>)?:?)"  // [rank0]: [core.py:390]
      R"(|\([A-Za-z_][\w. -]* pid=[^)]*\))"                  // (EngineCore_DP0 pid=7)
      R"(|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.,\d]*(?:Z|[+-]\d\d:?\d\d)?(?: std(?:err|out) [FP])?)"
      R"(|[\w.]+ - (?:DEBUG|INFO|WARNING|ERROR|CRITICAL) -)"  // __main__ - INFO -
      R"(|(?:DEBUG|INFO|WARNING|ERROR|CRITICAL)(?: \d\d-\d\d \d\d:\d\d:\d\d)?:?(?=\s))"
      R"(|[\w.-]+\s+\|)"  // worker-1  |
      R"(|\||│|E {3,}|- |\d{1,4}: ))"
      R"(\s?)");
  return pattern;
}

const std::regex& origin_pattern() {
  static const std::regex pattern(R"(rank\d+|default\d+|pid=\d+|^\d{1,4}(?=: ))");
  return pattern;
}

LogLine line_of(const std::string& raw) {
  // Prefixes are short: the pattern does not look at more of a line.
  constexpr std::size_t kLongestPrefix = 240;
  LogLine line;
  const std::string head = raw.substr(0, kLongestPrefix);
  auto at = head.begin();
  std::smatch match;
  while (at != head.end() &&
         std::regex_search(at, head.end(), match, prefix_pattern(),
                           std::regex_constants::match_continuous) &&
         match.length() > 0) {
    at += match.length();
  }
  const std::string prefix(head.begin(), at);
  if (std::regex_search(prefix, match, origin_pattern())) line.origin = match.str();
  line.text = raw.substr(prefix.size());
  // A frame that was drawn around the text; a bar alone may be the text's.
  constexpr std::string_view kFrame = "│";
  const std::string_view trimmed =
      std::string_view(line.text).substr(0, line.text.find_last_not_of(' ') + 1);
  if (trimmed.ends_with(kFrame)) {
    line.text.resize(trimmed.size() - kFrame.size());
  } else if (trimmed.ends_with(" |") && prefix.find('|') != std::string::npos) {
    line.text.resize(trimmed.size() - 1);
  }
  return line;
}

/// In pieces, as a narrow terminal breaks it: std::regex takes stack for every character.
void add_line(LogLine line, std::vector<LogLine>& lines) {
  constexpr std::size_t kLongestLine = 4000;
  std::string_view rest = line.text;
  if (rest.size() <= kLongestLine) {
    lines.push_back(std::move(line));
    return;
  }
  for (; !rest.empty(); rest = rest.substr(std::min(kLongestLine, rest.size()))) {
    lines.push_back({std::string(rest.substr(0, kLongestLine)), line.origin});
  }
}

void add_lines(std::string_view text, std::vector<LogLine>& lines) {
  while (true) {
    const std::size_t end = text.find('\n');
    add_line(line_of(without_escapes(text.substr(0, end))), lines);
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

std::vector<LogLine> log_lines(std::string_view text) {
  std::vector<LogLine> lines;
  while (true) {
    const std::size_t end = text.find('\n');
    const std::string_view raw = text.substr(0, end);
    const std::size_t first = raw.find_first_not_of(" \t");
    const bool is_json = first != std::string_view::npos && raw[first] == '{';
    add_lines(is_json ? with_lines_of_json(raw) : std::string(raw), lines);
    if (end == std::string_view::npos) return lines;
    text.remove_prefix(end + 1);
  }
}

}  // namespace ohm::reports
