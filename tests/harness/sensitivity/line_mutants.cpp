#include "tests/harness/sensitivity/line_mutants.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <regex>
#include <string>

namespace ohm::test {

namespace {

/// What a line is in a mutant; nullopt: it is none of the kind.
using Change = std::function<std::optional<std::string>(const std::string& code)>;

std::vector<std::string> lines_of(std::string_view source) {
  std::vector<std::string> lines(1);
  for (const char c : source) {
    if (c != '\n') {
      lines.back() += c;
    } else {
      lines.emplace_back();
    }
  }
  return lines;
}

/// A line without its comment and what surrounds it. No string of a scenario has "--" in it.
std::string code_of(const std::string& line) {
  const std::string code = line.substr(0, line.find("--"));
  const std::size_t first = code.find_first_not_of(' ');
  const std::size_t last = code.find_last_not_of(' ');
  return first == std::string::npos ? "" : code.substr(first, last - first + 1);
}

/// Each pattern is compiled once: that is what takes the time.
bool is_match(const std::string& code, const std::string& pattern) {
  static std::map<std::string, std::regex> compiled;
  return std::regex_search(code, compiled.try_emplace(pattern, pattern).first->second);
}

bool is_balanced(const std::string& code) {
  int depth = 0;
  for (const char c : code) {
    depth += (c == '(' || c == '{' || c == '[') ? 1 : 0;
    depth -= (c == ')' || c == '}' || c == ']') ? 1 : 0;
    if (depth < 0) return false;
  }
  return depth == 0;
}

/// A statement of its own that is a call, also behind a condition on the same line.
bool is_call(const std::string& code) {
  if (is_match(code, R"(^if .* then [\w.:]+ ?[({].*[)}] end$)")) return is_balanced(code);
  constexpr const char* kOthers =
      R"(^(local|return|if|for|while|function|repeat|until|assert|print|else|elseif|and|or|not)\b)";
  constexpr const char* kCall = R"(^(?=[A-Za-z_(]).*[.:(\]\w] ?[({].*[)}]$)";
  return !is_match(code, kOthers) && is_match(code, kCall) && is_balanced(code) &&
         !is_match(code, R"(^[\w., #+"\[\]-]+ = )");
}

bool is_step(const std::string& code) {
  return is_match(code, R"([.:](step|backward)\([^()]*\)$)");
}

/// A mark of ohm.step() is not a step of training.
std::optional<std::string> without_step(const std::string& code) {
  if (!is_call(code) || !is_step(code) || is_match(code, R"(^ohm\.step)")) return std::nullopt;
  return "";
}

std::optional<std::string> without_statement(const std::string& code) {
  const bool is_assignment_of_nil = is_match(code, R"(^[\w.]+(, [\w.]+)* = nil(, nil)*$)");
  if (without_step(code) || (!is_call(code) && !is_assignment_of_nil)) return std::nullopt;
  return "";
}

std::optional<std::string> without_learning(const std::string& code) {
  if (!is_match(code, R"(\blr = [0-9.e-]+)")) return std::nullopt;
  std::string changed = std::regex_replace(code, std::regex(R"(\blr = [0-9.e-]+)"), "lr = 0");
  return changed == code ? std::nullopt : std::make_optional(changed);
}

std::optional<std::string> with_one_turn(const std::string& code) {
  std::smatch parts;
  const std::regex loop(R"(^for (\w+) = ([01]), (.+?) do\b)");
  if (!std::regex_search(code, parts, loop) || parts[3] == parts[2]) return std::nullopt;
  return fmt::format("for {} = {}, {} do{}", parts[1].str(), parts[2].str(), parts[2].str(),
                     parts.suffix().str());
}

std::optional<std::string> with_other_dtype(const std::string& code) {
  struct Swap {
    const char* pattern;
    const char* replacement;
  };
  // Not a function of `bytes`, a key of a table, or what is only compared.
  constexpr Swap kSwaps[] = {{R"((ohm\.|")bfloat16\b)", "$1float16"},
                             {R"((ohm\.|")float16\b)", "$1bfloat16"},
                             {R"((ohm\.|")float32\b)", "$1float16"},
                             {R"(:half\(\))", ":float()"},
                             {R"(:float\(\))", ":half()"}};
  if (is_match(code, R"(compare_as|[=~]=)")) return std::nullopt;
  for (const Swap& swap : kSwaps) {
    if (is_match(code, swap.pattern)) {
      return std::regex_replace(code, std::regex(swap.pattern), swap.replacement);
    }
  }
  return std::nullopt;
}

bool is_result(const std::string& line) {
  return is_match(line, R"(^\s)") && is_match(code_of(line), R"(^return \{.*\}$)") &&
         is_balanced(code_of(line));
}

Change result_replaced_by(const char* text) {
  return [text](const std::string& code) {
    return code.rfind("return ", 0) == 0 ? std::make_optional<std::string>(text) : std::nullopt;
  };
}

class LineMutants {
 public:
  explicit LineMutants(std::string_view source) : lines_(lines_of(source)) {}

  std::vector<SourceMutant> take() {
    add("removed step", without_step);
    add("removed statement", without_statement);
    add("no learning", without_learning);
    add("one turn", with_one_turn);
    add("other dtype", with_other_dtype);
    add_results("constant result", result_replaced_by("return {loss = 0}"));
    add_constant_results();
    add_results("empty result", result_replaced_by("return {}"));
    add_results("no result", result_replaced_by("return"));
    return std::move(mutants_);
  }

 private:
  /// A line belongs to the one before it where that one does not end, or to the one after it.
  bool is_part(std::size_t i) const {
    const bool begins_before =
        i > 0 && is_match(code_of(lines_[i - 1]), R"([-+*/(,={]$|\b(and|or|not)$)");
    const bool goes_on =
        i + 1 < lines_.size() && is_match(code_of(lines_[i + 1]), R"(^([-+*/:.,)}]|and\b|or\b))");
    return begins_before || goes_on;
  }
  void add(const char* kind, const Change& change) {
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      const std::string code = code_of(lines_[i]);
      const std::optional<std::string> changed = code.empty() ? std::nullopt : change(code);
      if (!changed || (changed->empty() && is_part(i))) continue;
      add_with(kind, i, *changed);
    }
  }
  void add_results(const char* kind, const Change& change) {
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      if (is_result(lines_[i])) add_with(kind, i, *change(code_of(lines_[i])));
    }
  }
  void add_constant_results() {
    std::vector<std::string> lines = lines_;
    for (std::string& line : lines) {
      if (is_result(line)) line = "return {loss = 0}";
    }
    if (lines != lines_) add_source("constant results", "all", lines);
  }
  void add_with(const char* kind, std::size_t index, const std::string& line) {
    std::vector<std::string> lines = lines_;
    lines[index] = line;
    add_source(kind, code_of(lines_[index]), lines);
  }
  void add_source(const char* kind, const std::string& where,
                  const std::vector<std::string>& lines) {
    mutants_.push_back({kind, where, fmt::format("{}", fmt::join(lines, "\n")), {}});
  }

  std::vector<std::string> lines_;
  std::vector<SourceMutant> mutants_;
};

}  // namespace

std::vector<SourceMutant> line_mutants(std::string_view source) {
  return LineMutants(source).take();
}

}  // namespace ohm::test
