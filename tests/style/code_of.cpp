#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "tests/style/source_tree.h"

namespace ohm::style {
namespace {

/// Walks over a source once and copies what is code.
class CodeReader {
 public:
  explicit CodeReader(std::string_view text) : text_(text) {}

  std::string read() {
    while (at_ < text_.size()) step();
    return std::move(code_);
  }

 private:
  void step() {
    if (is_at_include()) return copy_until('\n');
    if (rest().starts_with("//")) return skip_until("\n", 0);
    if (rest().starts_with("/*")) return skip_until("*/", 2);
    if (rest().starts_with("R\"")) return skip_raw_string();
    if (text_[at_] == '"') return skip_literal('"');
    if (text_[at_] == '\'' && !is_in_number()) return skip_literal('\'');
    code_ += text_[at_++];
  }

  std::string_view rest() const { return text_.substr(at_); }

  bool is_at_include() const {
    const bool starts_line = at_ == 0 || text_[at_ - 1] == '\n';
    if (!starts_line) return false;
    std::string_view line = rest().substr(0, rest().find('\n'));
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (!line.starts_with('#')) return false;
    line.remove_prefix(std::min(line.find_first_not_of(" \t#"), line.size()));
    return line.starts_with("include");
  }

  /// The quote of 1'000'000.
  bool is_in_number() const {
    return at_ > 0 && std::isxdigit(static_cast<unsigned char>(text_[at_ - 1])) != 0;
  }

  void copy_until(char end) {
    while (at_ < text_.size() && text_[at_] != end) code_ += text_[at_++];
  }

  /// Skips to `end` and `past` characters of it; line breaks stay.
  void skip_until(std::string_view end, std::size_t past) {
    const std::size_t found = text_.find(end, at_ + past);
    const std::size_t stop = found == std::string_view::npos ? text_.size() : found + past;
    for (; at_ < stop; ++at_) {
      if (text_[at_] == '\n') code_ += '\n';
    }
  }

  void skip_raw_string() {
    const std::size_t open = text_.find('(', at_);
    if (open == std::string_view::npos) return skip_until("\n", 0);
    const std::string end = ")" + std::string(text_.substr(at_ + 2, open - at_ - 2)) + "\"";
    skip_until(end, end.size());
    code_ += "\"\"";
  }

  void skip_literal(char quote) {
    code_ += quote;
    for (++at_; at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n'; ++at_) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
    }
    if (at_ < text_.size() && text_[at_] == quote) code_ += text_[at_++];
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string code_;
};

}  // namespace

std::string code_of(const std::string& text) { return CodeReader(text).read(); }

}  // namespace ohm::style
