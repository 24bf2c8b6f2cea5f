#include "harness/lua/vm/nil_assignments.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <vector>

namespace ohm::lua {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_name_part(char c) { return is_name_start(c) || is_digit(c); }
bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

template <std::size_t N>
bool is_one_of(std::string_view token, const std::array<std::string_view, N>& list) {
  return std::find(list.begin(), list.end(), token) != list.end();
}

constexpr std::array<std::string_view, 4> kBlockStarts{"function", "do", "if", "repeat"};
constexpr std::array<std::string_view, 2> kBlockEnds{"end", "until"};
constexpr std::array<std::string_view, 4> kGoOn{"and", "or", "in", "then"};  // no statement begins

class NilAssignments {
 public:
  explicit NilAssignments(std::string_view text) : text_(text) {}

  std::string with_labels() {
    if (text_.starts_with('#')) at_ = std::min(text_.find('\n'), text_.size());
    for (std::string_view token = next(); !token.empty(); token = next()) take(token);
    add_label();
    return result_.append(text_.substr(copied_));
  }

 private:
  void take(std::string_view token) {
    const bool is_word = is_name_start(token[0]);
    if ((is_word && !is_one_of(token, kGoOn)) || token == ";" || token == "::") add_label();
    end_of_nil_.reset();
    if (token == "nil" && last_ == "=" && is_in_block()) end_of_nil_ = at_;
    if (is_one_of(token, kBlockStarts) || token == "(" || token == "[" || token == "{") {
      is_block_.push_back(is_word);
    } else if (is_one_of(token, kBlockEnds) || token == ")" || token == "]" || token == "}") {
      if (!is_block_.empty()) is_block_.pop_back();
    }
    last_ = token;
  }

  // Else the assignment is a field's, of a table that is being made.
  bool is_in_block() const { return is_block_.empty() || is_block_.back(); }

  void add_label() {
    if (!end_of_nil_) return;
    result_.append(text_.substr(copied_, *end_of_nil_ - copied_));
    copied_ = *end_of_nil_;
    result_.append(" ::_nil_").append(std::to_string(++labels_)).append("::");
  }

  // Empty at the end of the text. Of a string or a number the first character alone.
  std::string_view next() {
    skip_spaces_and_comments();
    const std::size_t start = at_;
    if (start >= text_.size()) return {};
    if (is_name_start(text_[start])) {
      while (at_ < text_.size() && is_name_part(text_[at_])) ++at_;
      return text_.substr(start, at_ - start);
    }
    if (is_digit(text_[start])) {
      while (at_ < text_.size() && (is_name_part(text_[at_]) || text_[at_] == '.')) ++at_;
      return text_.substr(start, 1);
    }
    if (text_[start] == '"' || text_[start] == '\'') return skip_string(), text_.substr(start, 1);
    if (skip_long_bracket()) return "\"";
    at_ += is_pair(start) ? 2 : 1;
    return text_.substr(start, at_ - start);
  }

  bool is_pair(std::size_t start) const {
    constexpr std::array<std::string_view, 5> kPairs{"==", "~=", "<=", ">=", "::"};
    return is_one_of(text_.substr(start, 2), kPairs);
  }

  void skip_spaces_and_comments() {
    while (at_ < text_.size()) {
      if (is_space(text_[at_])) {
        ++at_;
      } else if (text_.substr(at_, 2) == "--") {
        at_ += 2;
        if (!skip_long_bracket()) at_ = std::min(text_.find('\n', at_), text_.size());
      } else {
        return;
      }
    }
  }

  void skip_string() {
    const char quote = text_[at_++];
    while (at_ < text_.size() && text_[at_] != quote) at_ += text_[at_] == '\\' ? 2 : 1;
    at_ = std::min(at_ + 1, text_.size());
  }

  // `[[…]]`, `[==[…]==]`; false where none begins here.
  bool skip_long_bracket() {
    if (at_ >= text_.size() || text_[at_] != '[') return false;
    const std::size_t open = text_.find_first_not_of('=', at_ + 1);
    if (open >= text_.size() || text_[open] != '[') return false;
    const std::string close = "]" + std::string(open - at_ - 1, '=') + "]";
    const std::size_t end = text_.find(close, open);
    at_ = end >= text_.size() ? text_.size() : end + close.size();
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;  ///< behind the last token
  std::string_view last_;
  std::vector<bool> is_block_;             ///< of what is open: a block, else a bracket
  std::optional<std::size_t> end_of_nil_;  ///< that a statement may end with
  std::size_t copied_ = 0;                 ///< of the text, to the result
  std::string result_;
  std::size_t labels_ = 0;
};

}  // namespace

std::string with_separate_nils(std::string_view text) { return NilAssignments(text).with_labels(); }

}  // namespace ohm::lua
