#include "tests/docs/markdown.h"

#include <algorithm>
#include <cctype>
#include <regex>
#include <utility>

namespace ohm::docs {

namespace {

constexpr std::string_view kFence = "```";

/// "## What it does" is found as "what-it-does".
std::string anchor_of(std::string_view heading) {
  heading.remove_prefix(heading.find_first_not_of("# "));
  std::string out;
  for (const char c : heading) {
    const auto letter = static_cast<unsigned char>(c);
    if (c == ' ') out += '-';
    if (std::isalnum(letter) != 0 || c == '-' || c == '_' || letter >= 0x80) {
      out += static_cast<char>(std::tolower(letter));
    }
  }
  return out;
}

void collect(const std::string& line, const std::regex& pattern, int number,
             std::vector<Span>& out) {
  for (std::sregex_iterator match(line.begin(), line.end(), pattern), end; match != end; ++match) {
    out.push_back({number, (*match)[1]});
  }
}

class Parser {
 public:
  explicit Parser(std::string_view text) { document_.lines = split_lines(text); }

  Markdown parse() {
    for (const std::string& line : document_.lines) {
      ++number_;
      if (is_in_block_) {
        add_to_block(line);
      } else if (line.starts_with(kFence)) {
        begin_block(line);
      } else {
        add_prose(line);
      }
    }
    if (is_in_block_) complain("the code block is not closed");
    return std::move(document_);
  }

 private:
  void complain(std::string what) { document_.problems.push_back({number_, std::move(what)}); }

  void begin_block(const std::string& line) {
    is_in_block_ = true;
    CodeBlock block;
    block.language = line.substr(kFence.size());
    block.line = number_ + 1;
    for (const std::string& comment : comments_) obey(comment, block);
    comments_.clear();
    document_.blocks.push_back(std::move(block));
  }

  void add_to_block(const std::string& line) {
    if (line != kFence) return document_.blocks.back().text.push_back(line);
    is_in_block_ = false;
    was_blank_ = false;
  }

  void obey(const std::string& comment, CodeBlock& block) {
    static const std::regex kNotRun("not run: .+");
    static const std::regex kWith("with ([A-Za-z]+): .+");
    static const std::regex kExit("exit ([0-9]+): .+");
    static const std::regex kFile("file: ([A-Za-z0-9_./-]+)");
    static const std::regex kPrepare("prepare: (.+)");
    std::smatch words;
    if (std::regex_match(comment, kNotRun)) {
      block.is_not_run = true;
    } else if (std::regex_match(comment, words, kWith)) {
      block.needs = words[1];
    } else if (std::regex_match(comment, words, kExit)) {
      block.exit_code = std::stoi(words[1]);
    } else if (std::regex_match(comment, words, kFile)) {
      block.file = words[1];
    } else if (std::regex_match(comment, words, kPrepare)) {
      block.preparations.push_back(words[1]);
    } else {
      complain("unknown comment above a code block: " + comment);
    }
  }

  void add_prose(const std::string& line) {
    static const std::regex kComment("<!-- *(.*?) *-->");
    static const std::regex kCode("`([^`]+)`");
    static const std::regex kLink("\\]\\(([^)]+)\\)");
    std::smatch words;
    if (std::regex_match(line, words, kComment)) {
      comments_.push_back(words[1]);
      return;
    }
    comments_.clear();
    if (was_blank_ && line.starts_with("    ")) {
      complain("code that is indented is not run: fence it");
    }
    if (std::count(line.begin(), line.end(), '`') % 2 != 0) {
      complain("a code span that goes on in the next line is not checked: keep it on one");
    }
    was_blank_ = line.empty();
    if (line.starts_with('#')) document_.anchors.push_back(anchor_of(line));
    collect(line, kCode, number_, document_.code_spans);
    collect(line, kLink, number_, document_.links);
  }

  Markdown document_;
  int number_ = 0;
  bool is_in_block_ = false;
  bool was_blank_ = false;
  std::vector<std::string> comments_;  ///< right above the line that is read
};

}  // namespace

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

Markdown parse_markdown(std::string_view text) { return Parser(text).parse(); }

}  // namespace ohm::docs
