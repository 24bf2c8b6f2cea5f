#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "allocator_shim/base/nearest_name.h"
#include "allocator_shim/fault/fault_plan.h"

namespace ohm {
namespace {

using PolicyKind = FaultPolicy::Kind;

constexpr std::string_view kPersistent = "persistent";
constexpr std::string_view kThen = "->";
constexpr std::string_view kError = "error";

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

[[noreturn]] void refuse_part(std::string_view part, std::string_view why) {
  throw std::invalid_argument(fmt::format("[fault] {}: {}", part, why));
}

/// Throws unless each parenthesis has its other one.
void check_parentheses(std::string_view text) {
  int depth = 0;
  for (const char letter : text) {
    if (letter == '(') ++depth;
    if (letter == ')' && --depth < 0) refuse_part(text, "unmatched closing parenthesis");
  }
  if (depth > 0) refuse_part(text, "missing closing parenthesis");
}

/// Splits at `separator` wherever it stands outside parentheses, which are balanced.
std::vector<std::string_view> split(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')') --depth;
    if (depth != 0 || text.substr(i, separator.size()) != separator) continue;
    parts.push_back(trimmed(text.substr(begin, i - begin)));
    begin = i + separator.size();
    i = begin - 1;
  }
  parts.push_back(trimmed(text.substr(begin)));
  return parts;
}

const FaultPolicyRow& row_named(std::string_view name, std::string_view term) {
  std::vector<std::string> known(1, std::string(kPersistent));
  for (const FaultPolicyRow& row : fault_policies()) {
    if (row.name == name) return row;
    known.emplace_back(row.name);
  }
  throw std::invalid_argument(
      fmt::format("[fault] {}: unknown policy \"{}\"{}", term, name, did_you_mean(name, known)));
}

/// `name(arguments)`.
struct Call {
  std::string_view name;
  std::string_view arguments;
};

Call call_in(std::string_view term, std::string_view plan) {
  if (term.starts_with("ohm:")) return {"point", term};
  if (term.empty()) {
    throw std::invalid_argument(fmt::format(
        "[fault] a policy is missing in \"{}\" (a plan reads for example nth(7) & device(cuda:1))",
        plan));
  }
  const std::size_t open = term.find('(');
  if (open == std::string_view::npos || !term.ends_with(')')) {
    const std::string_view name = trimmed(term.substr(0, open));
    if (open == std::string_view::npos && name != kPersistent) row_named(name, term);
    throw std::invalid_argument(
        fmt::format("[fault] {}: arguments go in parentheses, as in nth(7)", term));
  }
  return {trimmed(term.substr(0, open)), term.substr(open + 1, term.size() - open - 2)};
}

}  // namespace

class FaultPlanParser {
 public:
  FaultPlanParser(std::string_view text, PlannedCalls calls) : text_(text), calls_(calls) {}

  FaultPlan parse() {
    FaultPlan plan;
    plan.text_ = trimmed(text_);
    check_parentheses(plan.text_);
    std::vector<std::string_view> chains = split(text_, kThen);
    for (std::size_t i = 0; i < chains.size(); ++i) {
      Chain chain = parse_chain(chains[i]);
      if (i + 1 < chains.size() && is_error(chains[i + 1])) {
        chain.error = parse_error(chains[i + 1]);
        if (has_capacity(chain)) refuse_part(chains[i], "a capacity has no error(…)");
        chains.erase(chains.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      }
      check_call(chain, chains[i]);
      if (has_capacity(chain)) {
        if (chains.size() > 1)
          refuse_part(chains[i], "capacity applies from the start: it cannot follow ->");
        plan.capacities_.push_back(std::move(chain));
        continue;
      }
      if (i + 1 < chains.size() && chain.fault_limit == FaultPolicy::kNoLimit) {
        refuse_part(chains[i], "never ends, so the plan after -> would never start");
      }
      plan.chains_.push_back(std::move(chain));
    }
    return plan;
  }

 private:
  using Chain = FaultPlan::Chain;
  using Term = FaultPlan::Term;

  static bool is_error(std::string_view link) {
    return link.starts_with(kError) && trimmed(link.substr(kError.size())).starts_with('(');
  }

  FaultError parse_error(std::string_view link) const {
    if (calls_ != PlannedCalls::device) {
      refuse_part(link, "error(…) is for calls of CUDA, in ohm exec --fault");
    }
    const Call call = call_in(link, text_);
    std::vector<std::string> known;
    for (const FaultErrorRow& row : kFaultErrors) {
      if (row.name == trimmed(call.arguments)) return row.error;
      known.emplace_back(row.name);
    }
    throw std::invalid_argument(
        fmt::format("[fault] {}: unknown error \"{}\"{} (ohm list --faults)", link,
                    trimmed(call.arguments), did_you_mean(trimmed(call.arguments), known)));
  }

  void check_call(const Chain& chain, std::string_view text) const {
    const bool has_call = std::any_of(chain.terms.begin(), chain.terms.end(), [](const Term& term) {
      return !term.policy->named_call().empty();
    });
    if (has_call && calls_ != PlannedCalls::device) {
      refuse_part(text, "call(…) is for calls of CUDA, in ohm exec --fault");
    }
    if (!has_call && chain.error != FaultError::memory) {
      refuse_part(text, "error(…) other than memory needs call(NAME)");
    }
  }

  static bool has_capacity(const Chain& chain) {
    return std::any_of(chain.terms.begin(), chain.terms.end(),
                       [](const Term& term) { return term.kind == PolicyKind::capacity; });
  }

  Chain parse_chain(std::string_view text) const {
    Chain chain;
    chain.planned = calls_;
    std::optional<std::uint64_t> limit;
    for (const std::string_view part : split(text, "&")) {
      Term term = parse_term(part, chain);
      std::optional<std::uint64_t> of_term = term.policy->fault_limit();
      if (term.is_persistent) of_term = FaultPolicy::kNoLimit;
      if (of_term) limit = std::min(*of_term, limit.value_or(FaultPolicy::kNoLimit));
      chain.terms.push_back(std::move(term));
    }
    chain.fault_limit = limit.value_or(1);
    if (limit) {
      chain.count = *limit == FaultPolicy::kNoLimit ? FaultCount::endless : FaultCount::finite;
    }
    check_capacity(chain, text);
    return chain;
  }

  static void check_capacity(const Chain& chain, std::string_view text) {
    if (!has_capacity(chain)) return;
    const bool counts = std::any_of(chain.terms.begin(), chain.terms.end(), [](const Term& term) {
      return term.kind == PolicyKind::schedule || term.is_persistent;
    });
    if (counts || chain.names_level) {
      refuse_part(text, "capacity combines only with device(…)");
    }
  }

  Term parse_term(std::string_view text, Chain& chain) const {
    Call call = call_in(text, text_);
    Term term;
    if (call.name == kPersistent) {
      term.is_persistent = true;
      if (split(call.arguments, "&").size() > 1) {
        refuse_part(text, "persistent takes one policy, as in persistent(nth(7)) & device(cuda:1)");
      }
      call = call_in(trimmed(call.arguments), text);
      if (call.name == kPersistent) refuse_part(text, "persistent cannot be nested");
    }
    using Names = FaultPolicyRow::Names;
    const FaultPolicyRow& row = row_named(call.name, text);
    PolicyArguments arguments(text, call.arguments);
    term.policy = row.make(arguments);
    arguments.expect_end();
    term.kind = row.kind;
    chain.names_level |= row.names == Names::level || row.names == Names::both;
    chain.names_device |= row.names == Names::device || row.names == Names::both;
    return term;
  }

  std::string_view text_;
  PlannedCalls calls_;
};

FaultPlanShape FaultPlan::shape() const {
  FaultPlanShape shape;
  shape.is_one_chain = chains_.size() + capacities_.size() == 1;
  shape.has_capacity = !capacities_.empty();
  if (chains_.empty()) return shape;
  shape.first = chains_.front().count;
  shape.last = chains_.back().count;
  return shape;
}

std::optional<FaultPlanShape> joined_by_and(const FaultPlanShape& left,
                                            const FaultPlanShape& right) {
  if (left.has_capacity || right.has_capacity) return std::nullopt;
  // The last chain of the one and the first of the other become one, which ends where one of them
  // does.
  FaultCount joint = std::max(left.last, right.first);
  if (left.last == FaultCount::finite || right.first == FaultCount::finite) {
    joint = FaultCount::finite;
  }
  if (!right.is_one_chain && joint == FaultCount::endless) return std::nullopt;
  FaultPlanShape shape;
  shape.is_one_chain = left.is_one_chain && right.is_one_chain;
  shape.first = left.is_one_chain ? joint : left.first;
  shape.last = right.is_one_chain ? joint : right.last;
  return shape;
}

std::optional<FaultPlanShape> joined_by_then(const FaultPlanShape& left,
                                             const FaultPlanShape& right) {
  if (left.has_capacity || right.has_capacity) return std::nullopt;
  if (left.last == FaultCount::endless) return std::nullopt;
  return FaultPlanShape{false, false, left.first, right.last};
}

FaultPlan FaultPlan::parse(std::string_view text, PlannedCalls calls) {
  return FaultPlanParser(text, calls).parse();
}

}  // namespace ohm
