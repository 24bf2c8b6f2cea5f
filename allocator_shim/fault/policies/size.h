// size(>=64MiB): calls for this many bytes. Comparisons: >=, <=, >, <, ==.
#pragma once

#include <array>

#include "allocator_shim/fault/fault_policy.h"

namespace ohm::fault_policies_detail {

class Size final : public FaultPolicy {
 public:
  using Comparison = bool (*)(std::size_t, std::size_t);
  Size(Comparison comparison, std::size_t bytes) : comparison_(comparison), bytes_(bytes) {}
  bool holds(const FaultCandidate& candidate) const override {
    return comparison_(candidate.bytes, bytes_);
  }

  static std::unique_ptr<FaultPolicy> make(PolicyArguments& arguments) {
    std::string_view text = arguments.take_text("a comparison");
    for (const Row& row : kRows) {
      if (!text.starts_with(row.symbol)) continue;
      text.remove_prefix(row.symbol.size());
      return std::make_unique<Size>(row.comparison, arguments.bytes_in(text));
    }
    arguments.refuse("a comparison must begin with >=, <=, ==, > or <");
  }

 private:
  struct Row {
    std::string_view symbol;
    Comparison comparison;
  };
  static constexpr std::array<Row, 5> kRows = {
      {{">=", [](std::size_t a, std::size_t b) { return a >= b; }},
       {"<=", [](std::size_t a, std::size_t b) { return a <= b; }},
       {"==", [](std::size_t a, std::size_t b) { return a == b; }},
       {">", [](std::size_t a, std::size_t b) { return a > b; }},
       {"<", [](std::size_t a, std::size_t b) { return a < b; }}}};

  Comparison comparison_;
  std::size_t bytes_;
};

inline constexpr FaultPolicyRow kSize = {"size", "size(>=BYTES)",
                                         "only calls for this many bytes; also <=, ==, > and <",
                                         FaultPolicy::Kind::condition, Size::make};

}  // namespace ohm::fault_policies_detail
