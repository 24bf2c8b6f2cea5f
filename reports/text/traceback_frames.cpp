#include "reports/text/traceback_frames.h"

#include <algorithm>
#include <charconv>
#include <regex>
#include <string_view>
#include <utility>

namespace ohm::reports {

namespace {

LogPlace place_of(std::string file, const std::string& line, std::string function) {
  LogPlace place{std::move(file), 0, std::move(function)};
  std::from_chars(line.data(), line.data() + line.size(), place.line);
  return place;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') + 1 - first);
}

/// A number that ends its line may go on in the next one.
const std::regex& python_frame() {
  static const std::regex pattern(R"re(File "([^"]+)", line (\d+)(?:, in (\S+)|[, ]))re");
  return pattern;
}

/// The line, and what a terminal has broken off of a frame that begins in it.
std::string with_whole_frame(const std::vector<LogLine>& lines, std::size_t at) {
  constexpr std::size_t kMostLines = 4;
  std::string text = lines[at].text;
  if (text.find("File \"") == std::string::npos) return text;
  std::size_t next = at + 1;
  const auto is_of_frame = [&] {
    return next < std::min(lines.size(), at + kMostLines) && lines[next].origin == lines[at].origin;
  };
  std::smatch match;
  while (!std::regex_search(text, match, python_frame()) && is_of_frame()) {
    text += lines[next++].text;
  }
  // So may the name of a function, where what comes next is not set in.
  const bool may_go_on = !match.empty() && match[3].matched && match.suffix().length() == 0 &&
                         is_of_frame() && !lines[next].text.empty() &&
                         !lines[next].text.starts_with(' ');
  if (may_go_on) text.resize(static_cast<std::size_t>(match.position(3)));
  return text;
}

/// A frame that stands in one line.
std::optional<LogPlace> place_in(const std::string& line) {
  static const std::regex notebook(R"re(File ([^ ,"]+):(\d+), in ([\w<>.]+))re");
  static const std::regex cell(R"re((Cell In ?\[\d+\]|<ipython-input-[\w-]+>), line (\d+))re");
  for (const std::regex* pattern : {&python_frame(), &notebook, &cell}) {
    std::smatch match;
    if (!std::regex_search(line, match, *pattern)) continue;
    return place_of(match.str(1), match.str(2), match.size() > 3 ? match.str(3) : std::string());
  }
  return std::nullopt;
}

/// A frame as Rich draws it, "/path/train.py:61 in main", whose path may begin in the line before.
/// What a log begins with may have lost its own beginning.
std::optional<LogPlace> drawn_place(const std::vector<LogLine>& lines, std::size_t at) {
  static const std::regex pattern(R"re(^((?:[A-Za-z]:|~)?[/\\]\S*):(\d+) in ?([\w<>.]*)$)re");
  std::string text(trimmed(lines[at].text));
  const bool has_beginning = !text.empty() && (text[0] == '/' || text[0] == '~' || text[1] == ':');
  const std::size_t first = has_beginning || at == 0 ? at : at - 1;
  if (first < at) text.insert(0, trimmed(lines[first].text));
  std::smatch match;
  if (first == 0 || !std::regex_match(text, match, pattern)) return std::nullopt;
  return place_of(match.str(1), match.str(2), match.str(3));
}

/// A frame of notebooks of before 2022, "train.py in main(model)", whose number is that of the
/// arrow "---> 61" behind it. In Colab its path is a link.
std::optional<LogPlace> place_with_arrow(const std::string& line, const std::string& arrow,
                                         bool begins_log) {
  static const std::regex pattern(
      R"re(^\s*(?:\[([^\]\s]+)\]\(http[^)]*\)|(\S+)) in (<cell line: \d+>|[\w<>.]+)\(.*\)\s*$)re");
  std::smatch match;
  if (arrow.empty() || !std::regex_match(line, match, pattern)) return std::nullopt;
  const std::string file = match[1].matched ? match.str(1) : match.str(2);
  const bool is_cell = file.starts_with("<ipython-input");
  if (!file.ends_with(".py") && !is_cell) return std::nullopt;
  if (begins_log && !is_cell && !match[1].matched) return std::nullopt;
  return place_of(file, arrow, match.str(3));
}

}  // namespace

std::optional<LogPlace> FrameReader::read(const std::vector<LogLine>& lines, std::size_t at) {
  const std::string& line = lines[at].text;
  static const std::regex arrow(R"re(^\s*-+> ?(\d+)\b)re");
  std::smatch match;
  if (std::regex_search(line, match, arrow)) {
    arrow_ = match.str(1);
    return std::nullopt;
  }
  if (std::optional<LogPlace> place = place_in(with_whole_frame(lines, at))) return place;
  if (std::optional<LogPlace> place = drawn_place(lines, at)) return place;
  std::optional<LogPlace> place = place_with_arrow(line, arrow_, at == 0);
  if (place) arrow_.clear();
  return place;
}

}  // namespace ohm::reports
