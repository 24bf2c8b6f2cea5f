// The arguments of a policy, between its parentheses, with errors that quote them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ohm {

class PolicyArguments {
 public:
  /// `term` is the policy as written, "nth(7)"; `text` what is between its parentheses.
  PolicyArguments(std::string_view term, std::string_view text) : term_(term), rest_(text) {}

  /// A whole number of at least 1.
  std::uint64_t take_count(std::string_view what);
  /// A number from 0 to 1.
  double take_probability(std::string_view what);
  /// `name=N`, a whole number from 0 on; `otherwise` where nothing is left.
  std::uint64_t take_named_number(std::string_view name, std::uint64_t otherwise);
  std::size_t take_bytes(std::string_view what) { return bytes_in(take_text(what)); }
  /// Up to the next comma, without blanks around it; not empty.
  std::string_view take_text(std::string_view what);

  /// The number of bytes in a part of what was taken.
  std::size_t bytes_in(std::string_view text) const;

  bool is_at_end() const { return rest_.empty(); }

  /// Throws if something is left.
  void expect_end() const;

  /// Throws std::invalid_argument("[fault] nth(x): …").
  [[noreturn]] void refuse(std::string_view why) const;

 private:
  std::string_view term_;
  std::string_view rest_;
};

}  // namespace ohm
