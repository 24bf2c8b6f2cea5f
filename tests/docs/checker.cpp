#include "tests/docs/checker.h"

#include <algorithm>
#include <map>
#include <regex>
#include <sstream>
#include <utility>

namespace ohm::docs {

namespace {

constexpr std::string_view kPrompt = "$ ";

std::string joined(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) out += line + '\n';
  return out;
}

/// A command of a block, and the lines that are said to follow it.
struct Step {
  int line = 0;
  std::vector<std::string> command;  ///< without prompt, as it is broken into lines
  std::vector<std::string> output;
};

bool goes_on(const std::vector<std::string>& command) {
  return !command.empty() && command.back().ends_with('\\');
}

std::vector<Step> steps_of_script(const CodeBlock& block) {
  std::vector<Step> steps;
  int line = block.line;
  for (const std::string& text : block.text) {
    if (!steps.empty() && goes_on(steps.back().command)) {
      steps.back().command.push_back(text);
    } else if (!text.empty() && !text.starts_with('#')) {
      steps.push_back({line, {text}, {}});
    }
    ++line;
  }
  return steps;
}

/// Lines before the first prompt make a step without a command.
std::vector<Step> steps_of_transcript(const CodeBlock& block) {
  std::vector<Step> steps;
  int line = block.line;
  for (const std::string& text : block.text) {
    if (text.starts_with(kPrompt)) {
      steps.push_back({line, {text.substr(kPrompt.size())}, {}});
    } else if (steps.empty()) {
      steps.push_back({line, {}, {text}});
    } else if (goes_on(steps.back().command) && steps.back().output.empty()) {
      steps.back().command.push_back(text);
    } else {
      steps.back().output.push_back(text);
    }
    ++line;
  }
  return steps;
}

/// Wall times differ from run to run: "in 1.2 s" becomes "in N s".
std::string without_times(const std::string& output) {
  static const std::regex kTime("\\b[0-9]+(\\.[0-9]+)? (ms|s)\\b");
  return std::regex_replace(output, kTime, "N $2");
}

class Checker {
 public:
  Checker(std::string_view text, Workplace& workplace)
      : document_(parse_markdown(text)), workplace_(workplace) {
    checked_.problems = document_.problems;
  }

  CheckedDocument check() {
    for (const CodeBlock& block : document_.blocks) check(block);
    add_lines_up_to(document_.lines.size() + 1);
    return std::move(checked_);
  }

 private:
  void complain(int line, std::string what) {
    checked_.problems.push_back({line, std::move(what)});
  }

  void check(const CodeBlock& block) {
    if (block.is_not_run || block.needs != workplace_.provides()) return;
    for (const std::string& command : block.preparations) run(block.line, command, 0);
    if (!block.file.empty()) {
      workplace_.write(block.file, joined(block.text));
    } else if (block.language == "console") {
      check_transcript(block);
    } else if (block.language == "sh") {
      for (const Step& step : steps_of_script(block)) {
        run(step.line, joined(step.command), block.exit_code);
      }
    } else if (block.language == "lua") {
      check_fragment(block);
    } else {
      complain(block.line, "a block of \"" + block.language +
                               "\" cannot be run: say `not run: REASON` or `file: NAME` above it");
    }
  }

  std::string run(int line, const std::string& command, int code) {
    CommandResult result = workplace_.run(command);
    if (result.code != code) {
      complain(line, "exit code " + std::to_string(result.code) + " instead of " +
                         std::to_string(code) + ": " + command + "\n" + result.output);
    }
    return std::move(result.output);
  }

  void check_transcript(const CodeBlock& block) {
    add_lines_up_to(static_cast<std::size_t>(block.line));
    next_line_ += block.text.size();
    for (const Step& step : steps_of_transcript(block)) {
      if (step.command.empty()) {
        complain(step.line, "a transcript begins with \"$ \" and a command");
        continue;
      }
      const std::string printed = run(step.line, joined(step.command), block.exit_code);
      const std::string expected = joined(step.output);
      const bool is_same = without_times(printed) == without_times(expected);
      if (!is_same) {
        std::string what = "the transcript differs; OHM_APPROVE=1 rewrites it\n---- document:\n";
        what += expected;
        what += "---- printed:\n";
        what += printed;
        complain(step.line, std::move(what));
      }
      checked_.approved += std::string(kPrompt) + joined(step.command);
      checked_.approved += is_same ? expected : printed;
    }
  }

  void check_fragment(const CodeBlock& block) {
    const std::string file = "scenarios/fragment.lua";
    workplace_.write(file,
                     "return ohm.scenario {name = 'fragment',\n"
                     "  gpu = {profile = 'h200-141g', values = false},\n"
                     "  checks = {fragment = {returns = {done = true}, run = function(device)\n" +
                         joined(block.text) + "return {done = true} end}}}\n");
    run(block.line, "ohm run " + file, 0);
    run(block.line, "rm " + file, 0);
  }

  /// Of the document as it is: the lines before this one, which were not added yet.
  void add_lines_up_to(std::size_t end) {
    for (; next_line_ < end; ++next_line_) {
      checked_.approved += document_.lines[next_line_ - 1] + '\n';
    }
  }

  Markdown document_;
  Workplace& workplace_;
  CheckedDocument checked_;
  std::size_t next_line_ = 1;  ///< of the document that is not in `approved`
};

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

/// "--report=x" and "--report" alike; empty for what is not a long option.
std::string option_of(const std::string& word) {
  static const std::regex kOption("(--[a-z][a-z-]*)(=.*)?[,.]?");
  std::smatch parts;
  return std::regex_match(word, parts, kOption) ? parts[1].str() : "";
}

bool has_option(const std::string& help, const std::string& option) {
  return std::regex_search(help, std::regex("(^|[\\s,])" + option + "([\\s,]|$)"));
}

}  // namespace

CheckedDocument check_document(std::string_view text, Workplace& workplace) {
  return Checker(text, workplace).check();
}

std::vector<std::string> commands_of_help(std::string_view help) {
  std::vector<std::string> commands;
  bool is_in_list = false;
  for (const std::string& line : split_lines(help)) {
    if (line.ends_with(':')) is_in_list = line.find("ommands") != std::string::npos;
    const std::vector<std::string> words = words_of(line);
    const bool is_entry = line.starts_with("  ") && line.size() > 2 && line[2] != ' ';
    if (is_in_list && is_entry) commands.push_back(words.front());
  }
  return commands;
}

std::vector<Problem> check_code_spans(const Markdown& document, Workplace& workplace) {
  std::map<std::string, std::string> help;
  std::string all;
  for (const std::string& command : commands_of_help(workplace.run("ohm --help").output)) {
    help[command] = workplace.run("ohm " + command + " --help").output;
    all += help[command];
  }
  all += workplace.run("tr '\"' ' ' < tests/../python/ohm/pytest_plugin.py").output;
  std::vector<Problem> problems;
  for (const Span& span : document.code_spans) {
    const std::vector<std::string> words = words_of(span.text);
    const bool is_command = words.size() > 1 && (words[0] == "ohm" || words[0] == "./ohm");
    if (!is_command && option_of(words.front()).empty()) continue;
    std::string known = all;
    if (is_command && option_of(words[1]).empty()) {
      if (!help.contains(words[1])) {
        problems.push_back({span.line, "there is no command `" + span.text + "`"});
        continue;
      }
      known = help.at(words[1]);
    }
    for (const std::string& word : words) {
      const std::string option = option_of(word);
      if (!option.empty() && !has_option(known, option)) {
        problems.push_back({span.line, "there is no option " + option + ": `" + span.text + "`"});
      }
    }
  }
  return problems;
}

}  // namespace ohm::docs
