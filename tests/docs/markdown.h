// Markdown as far as its checks need it: fenced code blocks, code spans, links and headings.
//
// What is to be done with a block stands in comments right above it, which readers do not see:
//   <!-- not run: REASON -->      it is left alone; the reason is for the reader of the source
//   <!-- exit CODE: REASON -->    each of its commands ends with this code instead of 0
//   <!-- file: NAME -->           its text is written to this file
//   <!-- prepare: COMMAND -->     is run before the block; repeatable
//   <!-- with NAME: REASON -->    it is run where there is that, and nothing else is
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ohm::docs {

/// A place in a file and what is wrong there.
struct Problem {
  int line = 0;  ///< 1-based
  std::string what;

  friend bool operator==(const Problem&, const Problem&) = default;
};

/// A fenced code block, without its fences.
struct CodeBlock {
  std::string language;
  int line = 0;  ///< of its first line of text
  std::vector<std::string> text;
  bool is_not_run = false;
  std::string needs;  ///< what not every workplace has; empty: nothing
  int exit_code = 0;
  std::string file;  ///< empty: none is written
  std::vector<std::string> preparations;
};

/// A code span (`like this`), or the target of a link.
struct Span {
  int line = 0;
  std::string text;
};

struct Markdown {
  std::vector<std::string> lines;  ///< all of it
  std::vector<CodeBlock> blocks;
  std::vector<Span> code_spans;
  std::vector<Span> links;
  std::vector<std::string> anchors;  ///< of its headings, as GitHub names them
  std::vector<Problem> problems;     ///< comments above blocks that say nothing known, and the like
};

std::vector<std::string> split_lines(std::string_view text);

Markdown parse_markdown(std::string_view text);

}  // namespace ohm::docs
