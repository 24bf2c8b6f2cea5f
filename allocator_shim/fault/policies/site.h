// site(~conv2d): calls of one op or line. `~` means: the words are part of its name.
#pragma once

#include <string>

#include "allocator_shim/fault/fault_policy.h"

namespace ohm::fault_policies_detail {

class SiteNamed final : public FaultPolicy {
 public:
  enum class Match : std::uint8_t { whole, part };

  SiteNamed(Match match, std::string_view text) : match_(match), text_(text) {}
  bool holds(const FaultCandidate& candidate) const override {
    if (candidate.where == nullptr) return false;
    const std::string line = candidate.where->file + ":" + std::to_string(candidate.where->line);
    if (match_ == Match::whole) return candidate.where->op == text_ || line == text_;
    return candidate.where->op.find(text_) != std::string::npos ||
           line.find(text_) != std::string::npos;
  }

  static std::unique_ptr<FaultPolicy> make(PolicyArguments& arguments) {
    std::string_view text = arguments.take_text("an op or FILE:LINE");
    const bool is_part = text.starts_with('~');
    if (is_part) text.remove_prefix(1);
    if (text.empty()) arguments.refuse("an op or FILE:LINE must follow ~");
    return std::make_unique<SiteNamed>(is_part ? Match::part : Match::whole, text);
  }

 private:
  Match match_;
  std::string text_;
};

inline constexpr FaultPolicyRow kSite = {
    "site", "site(~conv2d)", "only calls of this op or FILE:LINE; with ~, of names that contain it",
    FaultPolicy::Kind::condition, SiteNamed::make};

}  // namespace ohm::fault_policies_detail
