#include "harness/scenario/opening_comment.h"

#include <algorithm>
#include <array>
#include <vector>

namespace ohm::engine {

namespace {

/// The text behind `--` of each line, up to the first that is not a comment.
std::vector<std::string_view> comment_lines(std::string_view source) {
  std::vector<std::string_view> lines;
  while (source.starts_with("--") && !source.starts_with("--[[")) {
    const std::size_t end = std::min(source.find('\n'), source.size());
    std::string_view line = source.substr(2, end - 2);
    while (line.ends_with('\r') || line.ends_with(' ')) line.remove_suffix(1);
    if (line.starts_with(' ')) line.remove_prefix(1);
    lines.push_back(line);
    source.remove_prefix(std::min(end + 1, source.size()));
  }
  return lines;
}

/// A part that a word opens. Prose is filled again for the page it is printed on; what people are
/// to copy keeps its lines.
struct Part {
  std::string_view word;
  std::string OpeningComment::*text;
  bool keeps_lines;
};

constexpr std::array<Part, 4> kParts = {{{"Symptom:", &OpeningComment::symptom, false},
                                         {"Chapter:", &OpeningComment::chapter, false},
                                         {"PyTorch:", &OpeningComment::pytorch, true},
                                         {"Keras:", &OpeningComment::keras, false}}};

constexpr Part kCause = {"", &OpeningComment::cause, false};

std::string_view without_blanks_before(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(' '), text.size()));
}

void append(std::string& text, std::string_view line, bool keeps_lines) {
  if (!text.empty() && text.back() != '\n') text += keeps_lines ? '\n' : ' ';
  text += line;
}

void trim(std::string& text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
}

/// Code is indented below its word: the indentation that all lines share goes.
void unindent(std::string& text) {
  std::vector<std::string_view> lines;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    lines.push_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  std::size_t shared = std::string::npos;
  for (const std::string_view line : lines) {
    if (!line.empty()) shared = std::min(shared, line.find_first_not_of(' '));
  }
  std::string out;
  for (const std::string_view line : lines) {
    out += line.substr(std::min(shared, line.size()));
    out += '\n';
  }
  trim(out);
  text = out;
}

void drop_quotation_marks(std::string& text) {
  const bool is_quoted = text.size() > 1 && text.front() == '"' && text.back() == '"' &&
                         std::count(text.begin(), text.end(), '"') == 2;
  if (is_quoted) text = text.substr(1, text.size() - 2);
}

/// "What to do:" stands inside the explanation of the cause.
void split_advice(OpeningComment& comment) {
  constexpr std::string_view kAdvice = "What to do: ";
  const std::size_t at = comment.cause.find(kAdvice);
  if (at == std::string::npos) return;
  const std::size_t end = std::min(comment.cause.find('\n', at), comment.cause.size());
  comment.what_to_do = comment.cause.substr(at + kAdvice.size(), end - at - kAdvice.size());
  const std::size_t last =
      at == 0 ? std::string::npos : comment.cause.find_last_not_of(' ', at - 1);
  const std::size_t from = last == std::string::npos ? 0 : last + 1;
  comment.cause.erase(from, end - from);
  trim(comment.cause);
}

}  // namespace

OpeningComment opening_comment(std::string_view source) {
  OpeningComment comment;
  Part part = kCause;
  for (std::string_view line : comment_lines(source)) {
    const auto opened = std::find_if(kParts.begin(), kParts.end(), [&](const Part& known) {
      return line.starts_with(known.word);
    });
    if (opened != kParts.end()) {
      part = *opened;
      line = without_blanks_before(line.substr(part.word.size()));
      if (line.empty()) continue;
    } else if (line.empty() && !part.keeps_lines) {
      // A paragraph ends, and a short part with it.
      std::string& text = comment.*part.text;
      if (part.text == kCause.text && !text.empty() && text.back() != '\n') text += '\n';
      part = kCause;
      continue;
    }
    append(comment.*part.text, part.keeps_lines ? line : without_blanks_before(line),
           part.keeps_lines);
  }
  for (std::string* text : {&comment.symptom, &comment.cause, &comment.chapter, &comment.keras}) {
    trim(*text);
  }
  unindent(comment.pytorch);
  drop_quotation_marks(comment.symptom);
  split_advice(comment);
  return comment;
}

}  // namespace ohm::engine
