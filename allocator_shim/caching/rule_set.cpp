#include "allocator_shim/caching/rule_set.h"

#include <fmt/format.h>

#include <array>
#include <stdexcept>
#include <string>
#include <vector>

#include "allocator_shim/base/nearest_name.h"

namespace ohm {
namespace {

constexpr std::array<RuleSet, 2> kRuleSets = {
    {{"pytorch-2.6", false, true, 21, "PYTORCH_CUDA_ALLOC_CONF", false},
     {"pytorch-2.10", true, false, 20, "PYTORCH_ALLOC_CONF", true}}};

}  // namespace

std::span<const RuleSet> rule_sets() { return kRuleSets; }

const RuleSet& default_rule_set() { return kRuleSets.front(); }

const RuleSet& find_rule_set(std::string_view name) {
  std::vector<std::string> known;
  for (const RuleSet& rules : kRuleSets) {
    if (rules.name == name) return rules;
    known.emplace_back(rules.name);
  }
  throw std::invalid_argument(
      fmt::format("[allocator] unknown rule set \"{}\"{}", name, did_you_mean(name, known)));
}

const RuleSet& rule_set_or_default(std::string_view name) {
  return name.empty() ? default_rule_set() : find_rule_set(name);
}

}  // namespace ohm
